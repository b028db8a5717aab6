import { DataTypes, Sequelize } from "sequelize";
import { json } from "snowmint";
import { generator } from "./ids.mjs";

const sequelize = new Sequelize(process.env.DATABASE_URL, { logging: false });
const id = { type: DataTypes.BIGINT, primaryKey: true, defaultValue: () => generator.nextString() };
const Order = sequelize.define("Order", { id, item: DataTypes.TEXT }, { tableName: "orders", timestamps: false });

const order = await Order.create({ item: "sequelize" });
const found = await Order.findByPk(order.id);
console.log(json.stringify({ order, found }));

await sequelize.close();
