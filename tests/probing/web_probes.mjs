// Asks contrib/js for what standard input lists, as JSON: {module, tables, options, asked: [[question, ...]]}.
// Prints the answers as JSON; an error is its message.
import { text } from "node:stream/consumers";

const { module, tables: address, options, asked } = JSON.parse(await text(process.stdin));
const { openTables } = await import(module);
const tables = await openTables(address, options);
const answers = [];
for (const [question, ...words] of asked)
  answers.push(await tables[question](...words).catch((error) => error.message));
console.log(JSON.stringify(answers));
