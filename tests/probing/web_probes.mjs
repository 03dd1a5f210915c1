// Asks contrib/js for what standard input lists, as JSON: {module, tables, options, asked: [[question, ...]]}.
// Prints the answers as JSON; an error is its message, after its name if it is no TablesError. If the tables
// cannot be opened, that is each answer. The question "together" asks its questions at the same time,
// "turns" one after another.
import { text } from "node:stream/consumers";

const { module, tables: address, options, asked } = JSON.parse(await text(process.stdin));
const { openTables } = await import(module);
const textOf = (error) => (error.name === "TablesError" ? "" : `${error.name}: `) + error.message;
const opened = await openTables(address, options).catch((error) => error);
const ask = ([question, ...words]) => {
  if (opened instanceof Error) return textOf(opened);
  if (question === "together") return Promise.all(words.map(ask));
  if (question === "turns") return askInTurn(words);
  return opened[question](...words).catch(textOf);
};
const askInTurn = async (questions) => {
  const answers = [];
  for (const each of questions) answers.push(await ask(each));
  return answers;
};
console.log(JSON.stringify(await askInTurn(asked)));
