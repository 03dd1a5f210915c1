// Asks contrib/js for what standard input lists, as JSON: {module, tables, options, asked: [[question, ...]]}.
// Prints the answers as JSON; an error is its message. If the tables cannot be opened, that is each answer.
import { text } from "node:stream/consumers";

const { module, tables: address, options, asked } = JSON.parse(await text(process.stdin));
const { openTables } = await import(module);
const opened = await openTables(address, options).catch((error) => error);
const tables = opened instanceof Error ? null : opened;
const answers = [];
for (const [question, ...words] of asked)
  answers.push(tables ? await tables[question](...words).catch((error) => error.message) : opened.message);
console.log(JSON.stringify(answers));
