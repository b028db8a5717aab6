import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "@prisma/client";
import { json } from "snowmint";
import { generator } from "./ids.mjs";

const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });

const order = await prisma.order.create({ data: { id: generator.nextId(), item: "prisma" } });
const found = await prisma.order.findUnique({ where: { id: order.id } });
console.log(json.stringify({ order, found }));

await prisma.$disconnect();
