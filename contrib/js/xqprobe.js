// Xiangqi endgame tables of tbgen in a web page or in Node.js, from plain files. MIT licence.
//
//     const tables = await openTables("https://example.org/egtb/", { rules: "wxf" });
//     await tables.value("3k5/9/9/9/9/9/9/9/9/R3K4 w");
//
// The reader, xqprobe.wasm, is synchronous. To read bytes of a file, it calls `#read`, which records
// missing chunks; once they are fetched, the query is repeated (`#ask`). xqprobe.d.ts describes the
// exports.
import { CHUNK, RemoteFile, TablesError, bodyOf, described, request } from "./remotefile.js";

export { TablesError };

const COLD = -11, ARGUMENT = -8, CORRUPT = -4, MISSING = -1;
const VALUE_NUMBERS = 4, MOVE_NUMBERS = 10, SQUARES = 90, MAX_PLAYED = 10000;
const LETTERS = ".KABRNCP", MOST = [0, 1, 2, 2, 2, 2, 2, 5], SYNONYMS = { E: "B", H: "N", S: "P" };
const SIDES = { w: 0, r: 0, 红: 0, 紅: 0, b: 1, 黑: 1 };
const AFTER_SIDE = /^(-+ -+( \d+ \d+)?)?$/; // such as "- - 0 1"
const OUTCOMES = ["loss", "draw", "win"], METRICS = ["dtm", "dtc", null];

function positionOf(fen) {
  const refused = () => new TablesError(`not a position: ${fen}`);
  if (typeof fen !== "string") throw refused();
  const [rows, side, ...rest] = fen.replace(/[\s_+]+/g, " ").trim().split(" ");
  const board = new Uint8Array(SQUARES);
  const ranks = rows.split("/");
  if (ranks.length !== 10 || !Object.hasOwn(SIDES, side)) throw refused();
  if (!AFTER_SIDE.test(rest.join(" "))) throw refused();
  ranks.forEach((row, index) => {
    let file = 0;
    for (const letter of row) {
      const upper = letter.toUpperCase();
      const code = LETTERS.indexOf(SYNONYMS[upper] ?? upper);
      if (letter >= "1" && letter <= "9") file += Number(letter);
      else if (code > 0 && file < 9)
        board[9 * (9 - index) + file++] = code + (letter === upper ? 0 : 8);
      else throw refused();
    }
    if (file !== 9) throw refused();
  });
  checkCounts(board);
  return { board, side: SIDES[side] };
}

function checkCounts(board) {
  ["Red", "Black"].forEach((name, side) => {
    for (let kind = 1; kind <= 7; kind++) {
      const count = board.filter((code) => code === kind + 8 * side).length;
      if (kind === 1 && count !== 1) throw new TablesError(`${name} has ${count} kings`);
      if (count > MOST[kind])
        throw new TablesError(`${name} has ${count} pieces of the kind ${LETTERS[kind]}`);
    }
  });
}

const nameOf = (square) => "abcdefghi"[square % 9] + Math.floor(square / 9);

function stepOf(move) {
  const found = /^([a-i])([0-9])([a-i])([0-9])$/.exec(move);
  if (!found) throw new TablesError(`not a move: ${move}`);
  return [1, 3].map((n) => 9 * Number(found[n + 1]) + "abcdefghi".indexOf(found[n]));
}

// The position after moves, each a pair of squares.
function positionAfter({ board, side }, steps) {
  const after = board.slice();
  for (const [from, to] of steps) {
    after[to] = after[from];
    after[from] = 0;
  }
  return { board: after, side: (side + steps.length) % 2 };
}

// Canonical name of a material, such as KRNKR; null if neither side can win.
function materialOf(pieces) {
  if (!pieces.some((code) => (code & 7) >= 4)) return null;
  const armies = [0, 1].map((side) => {
    const count = (letter) =>
      pieces.filter((code) => code >> 3 === side && LETTERS[code & 7] === letter).length;
    return [..."RNCPAB"].map(count);
  });
  const differs = armies[0].findIndex((count, n) => count !== armies[1][n]);
  if (differs >= 0 && armies[0][differs] < armies[1][differs]) armies.reverse();
  const lettersOf = (army) => army.map((n, kind) => "RNCPAB"[kind].repeat(n)).join("");
  return armies.map((army) => "K" + lettersOf(army)).join("");
}

// The materials after one capture by the side to move, except drawn ones.
function materialsAfter(pieces, side) {
  const found = new Set();
  pieces.forEach((code, n) => {
    if ((code & 7) === 1 || code >> 3 === side) return;
    const name = materialOf(pieces.filter((_, m) => m !== n));
    if (name !== null) found.add(name);
  });
  return found;
}

class Tables {
  #reader = null; // exports of xqprobe.wasm
  #files = [];
  #missing = new Map(); // file -> numbers of the chunks that a query lacked
  #used = new Set(); // files that the last question read
  #opened = new Map(); // material -> promise: whether it has a table in the folder
  #forbidden = false; // whether the server of the folder answered 403 for a file

  constructor(address, options) {
    const { rules = "wxf", kinds = ["dtm", "wdl"], whole = 16 << 20, memory = 64 << 20 } = options;
    if (address === undefined) throw new TablesError("no address of tables: give null for none");
    const [, folder, query = ""] = /^([^?#]*)(\?[^#]*)?/.exec(String(address));
    this.address = address === null ? null : folder.replace(/\/*$/, "/");
    this.query = query; // follows the name of each file
    this.rules = rules;
    this.kinds = kinds;
    this.whole = whole;
    this.memory = memory;
  }

  async load(wasm) {
    const env = { xq_remote_read: (...numbers) => this.#read(...numbers) };
    const { instance } = await described(
      WebAssembly.instantiate(await bytesOf(wasm), { env }),
      "xqprobe.wasm is refused (a Content-Security-Policy needs 'wasm-unsafe-eval')",
    );
    this.#reader = instance.exports;
    const names = [];
    for (let at; (at = this.#reader.rules(names.length)) !== 0; ) names.push(this.#text(at));
    if (!names.includes(this.rules))
      throw new TablesError(`no rule set ${this.rules}: there are ${names.join(", ")}`);
    this.#check(this.#reader.start(names.indexOf(this.rules)));
    return this;
  }

  #text(address) {
    const bytes = new Uint8Array(this.#reader.memory.buffer, address);
    return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0)));
  }

  #read(number, offset, to, size) {
    const out = new Uint8Array(this.#reader.memory.buffer, to, size);
    const file = this.#files[number];
    this.#used.add(file);
    const missing = file.copy(Number(offset), out);
    if (missing.length === 0) return 0;
    const noted = this.#missing.get(file) ?? new Set();
    missing.forEach((chunk) => noted.add(chunk));
    this.#missing.set(file, noted);
    return COLD;
  }

  #check(status) {
    if (status >= 0) return status;
    const said = this.#text(this.#reader.text(status));
    if (status !== CORRUPT) throw new TablesError(said, status);
    const files = [...this.#used].map((file) => file.address).join(" or ");
    throw new TablesError(`${files}: ${said}`, status);
  }

  // Repeat a query until no bytes are missing, and return its answer. `held` are chunks that it
  // needs, which `#forget` may drop meanwhile. With `toEnd`, all bytes from the first missing one
  // to the end of the file are fetched.
  async #ask(question, toEnd = false, held = []) {
    for (;;) {
      for (const { file, number, bytes } of held) file.chunks.set(number, bytes);
      this.#missing.clear();
      this.#used.clear();
      const answer = question();
      if (this.#missing.size === 0) return answer;
      const loads = [...this.#missing].map(([file, chunks]) => {
        const numbers = [...chunks].sort((a, b) => a - b);
        while (toEnd && (numbers.at(-1) + 1) * CHUNK < file.size) numbers.push(numbers.at(-1) + 1);
        return file.load(numbers);
      });
      held.push(...(await Promise.all(loads)).flat());
    }
  }

  async add(address) {
    return this.#add(new RemoteFile(String(address), this.whole));
  }

  async #add(file) {
    const held = await file.fetch(0, 0);
    if (held === null) return false;
    const number = this.#files.push(file) - 1;
    // The table of blocks, which the reader's `add` reads, is near the end of the file.
    const status = await this.#ask(() => this.#reader.add(number, file.size), true, held);
    if (status >= 0) return true;
    throw new TablesError(`${file.address}: ${this.#text(this.#reader.text(status))}`, status);
  }

  // Open the table of a material, if it was not tried before; false if it does not exist.
  #open(material) {
    if (this.address === null) return false;
    if (!this.#opened.has(material)) {
      const opening = this.#openFirst(material);
      opening.catch(() => this.#opened.delete(material));
      this.#opened.set(material, opening);
    }
    return this.#opened.get(material);
  }

  async #openFirst(material) {
    for (const kind of this.kinds) {
      const name = `${material}.${this.rules}.${kind}.xqt`;
      const file = new RemoteFile(this.address + name + this.query, this.whole);
      if (await this.#add(file)) return true;
      this.#forbidden ||= file.forbidden;
    }
    return false;
  }

  // Open the table of a position and, if `after`, those after its moves; returns the materials
  // after its moves that the folder lacks. `bestMove` needs no others: the reader searches ahead, but
  // probes no position after a capture by the opponent or after two captures.
  async #prepare(position, after) {
    this.#forget();
    const pieces = [...position.board].filter((code) => code !== 0);
    const own = materialOf(pieces);
    if (own === null) return [];
    if (!(await this.#open(own))) this.#checkAdded(position, own);
    const others = after ? [...materialsAfter(pieces, position.side)] : [];
    const found = await Promise.all(others.map((name) => this.#open(name)));
    return others.filter((_, n) => !found[n]);
  }

  // Refuse a position without a table in the folder if `add` has not added its table either.
  #checkAdded(position, material) {
    this.#give(position);
    if (this.#reader.value() !== MISSING) return;
    const where = this.address === null ? "among the added files" : `at ${this.address}`;
    const denied = this.#forbidden ? " (the server answers 403 for some files)" : "";
    throw new TablesError(`there is no table ${material}.${this.rules} ${where}${denied}`, MISSING);
  }

  // Drop all fetched chunks of all files if they exceed the limit `memory`.
  #forget() {
    let kept = 0;
    for (const file of this.#files) kept += file.chunks.size * CHUNK;
    if (kept > this.memory) this.#files.forEach((file) => file.chunks.clear());
  }

  #give({ board, side }, played = []) {
    const { memory, input, played: moves } = this.#reader;
    const bytes = new Uint8Array(memory.buffer);
    bytes.set(board, input());
    bytes[input() + SQUARES] = side;
    bytes.set(played.flat(), moves());
  }

  #numbers(count) {
    return new Int32Array(this.#reader.memory.buffer, this.#reader.output(), count).slice();
  }

  async value(fen) {
    const position = positionOf(fen);
    await this.#prepare(position, false);
    return this.#ask(() => {
      this.#give(position);
      const status = this.#reader.value();
      if (status === COLD) return null;
      this.#check(status);
      return valueOf(this.#numbers(VALUE_NUMBERS), isDrawn(position));
    });
  }

  async moves(fen) {
    const position = positionOf(fen);
    await this.#prepare(position, true);
    return this.#ask(() => {
      this.#give(position);
      const count = this.#reader.moves();
      if (count === COLD) return null;
      const numbers = this.#numbers(VALUE_NUMBERS + MOVE_NUMBERS * this.#check(count));
      const value = valueOf(numbers, isDrawn(position));
      const exact = value.order !== null;
      const moves = [];
      for (let at = VALUE_NUMBERS; at < numbers.length; at += MOVE_NUMBERS)
        moves.push(moveOf(numbers.subarray(at, at + MOVE_NUMBERS), exact));
      return { value, moves };
    });
  }

  async bestMove(fen, played = []) {
    const position = positionOf(fen);
    if (!Array.isArray(played)) throw new TablesError(`not a list of moves: ${played}`);
    const steps = played.map(stepOf);
    if (steps.length > MAX_PLAYED) throw new TablesError(`more than ${MAX_PLAYED} moves`);
    this.#checkLegal(position, steps);
    const lacking = await this.#prepare(positionAfter(position, steps), true);
    return this.#ask(() => {
      this.#give(position, steps);
      const found = this.#reader.best(steps.length);
      if (found === MISSING) {
        const names = lacking.map((name) => `${name}.${this.rules}`).join(" or ");
        throw new TablesError(`a table after a capture is missing: ${names}`, MISSING);
      }
      if (found === COLD || this.#check(found) === 0) return null;
      const [from, to] = this.#numbers(2);
      return nameOf(from) + nameOf(to);
    });
  }

  // Refuse played moves if one is illegal. The reader plays them before it looks for tables.
  #checkLegal(position, steps) {
    this.#give(position, steps);
    const refuses = (count) => this.#reader.best(count) === ARGUMENT;
    if (steps.length === 0 || !refuses(steps.length)) return;
    let [legal, count] = [0, steps.length]; // `count` moves are too many
    while (count - legal > 1) {
      const middle = Math.floor((legal + count) / 2);
      if (refuses(middle)) count = middle;
      else legal = middle;
    }
    const [from, to] = steps[count - 1];
    throw new TablesError(`move ${count}, ${nameOf(from)}${nameOf(to)}, is illegal`, ARGUMENT);
  }
}

// Return whether a position is a draw that needs no table.
const isDrawn = ({ board }) => materialOf([...board].filter((code) => code !== 0)) === null;

// The value in an answer; order and plies are null without a metric, unless `exact`.
function valueOf([wdl, order, plies, metric], exact = false) {
  const known = exact || METRICS[metric] !== null;
  return {
    outcome: OUTCOMES[wdl + 1],
    order: known ? order : null,
    plies: known && wdl !== 0 ? plies : null,
    metric: METRICS[metric],
  };
}

function moveOf(numbers, exact) {
  const [from, to, capture, check, best, status] = numbers;
  return {
    move: nameOf(from) + nameOf(to),
    capture: capture !== 0,
    check: check !== 0,
    best: best !== 0,
    value: status === MISSING ? null : valueOf(numbers.subarray(6), exact),
  };
}

async function bytesOf(wasm) {
  if (wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm)) return wasm;
  if (!URL.canParse(wasm, import.meta.url))
    throw new TablesError(`not the address of xqprobe.wasm: ${wasm}`);
  const address = new URL(wasm, import.meta.url);
  if (address.protocol === "file:") {
    const files = "node:fs/promises"; // a variable, since bundlers for browsers refuse the literal
    const loading = import(/* webpackIgnore: true */ /* @vite-ignore */ files);
    return described(loading.then(({ readFile }) => readFile(address)), `${address}`);
  }
  const response = await request(address);
  if (!response.ok) throw new TablesError(`${address}: the server answers ${response.status}`);
  const bytes = await bodyOf(address, response);
  if (new TextDecoder().decode(bytes.slice(0, 4)) !== "\0asm")
    throw new TablesError(`${address}: the server does not send xqprobe.wasm`);
  return bytes;
}

export async function openTables(address, options = {}) {
  return new Tables(address, options).load(options.wasm ?? "xqprobe.wasm");
}
