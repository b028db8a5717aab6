import mongoose from "mongoose";
import { json } from "snowmint";
import { generator } from "./ids.mjs";

const schema = new mongoose.Schema({ _id: { type: BigInt, default: () => generator.nextId() }, item: String });
const Order = mongoose.model("Order", schema);
await mongoose.connect(process.env.MONGODB_URL);

const order = await Order.create({ item: "mongoose" });
const found = await Order.findById(order._id);
console.log(json.stringify({ order, found }));

await mongoose.disconnect();
