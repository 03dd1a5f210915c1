// Xiangqi endgame tables of tbgen in a web page or in Node.js, from plain files. MIT licence.
//
//     const tables = await openTables("https://example.org/egtb/", { rules: "wxf" });
//     await tables.value("3k5/9/9/9/9/9/9/9/9/R3K4 w");
//
// The reader of xqprobe.wasm is synchronous. For bytes of a file it calls `#read`, which records the
// missing ones; after they have been fetched, the query is repeated (`#ask`). xqprobe.d.ts describes all
// exports.

const CHUNK = 32768; // bytes of a chunk; files are fetched in whole chunks
const COLD = -11, MISSING = -1;
const VALUE_NUMBERS = 4, MOVE_NUMBERS = 10, SQUARES = 90, MAX_PLAYED = 10000;
const LETTERS = ".KABRNCP", SYNONYMS = { E: "B", H: "N" };
const OUTCOMES = ["loss", "draw", "win"], METRICS = ["dtm", "dtc", null];

export class TablesError extends Error {
  constructor(message, status = null) {
    super(message);
    this.name = "TablesError";
    this.status = status;
  }
}

function positionOf(fen) {
  const [rows, side = "w"] = fen.trim().split(/[\s_]+/);
  const board = new Uint8Array(SQUARES);
  const ranks = rows.split("/");
  if (ranks.length !== 10 || !["w", "r", "b"].includes(side)) throw new TablesError(`not a position: ${fen}`);
  ranks.forEach((row, index) => {
    let file = 0;
    for (const letter of row) {
      const upper = letter.toUpperCase();
      const code = LETTERS.indexOf(SYNONYMS[upper] ?? upper);
      if (letter >= "1" && letter <= "9") file += Number(letter);
      else if (code > 0 && file < 9)
        board[9 * (9 - index) + file++] = code + (letter === upper ? 0 : 8);
      else throw new TablesError(`not a position: ${fen}`);
    }
    if (file !== 9) throw new TablesError(`not a position: ${fen}`);
  });
  return { board, side: side === "b" ? 1 : 0 };
}

const nameOf = (square) => "abcdefghi"[square % 9] + Math.floor(square / 9);

function stepOf(move) {
  const found = /^([a-i])([0-9])([a-i])([0-9])$/.exec(move);
  if (!found) throw new TablesError(`not a move: ${move}`);
  const [from, to] = [0, 2].map((n) => 9 * Number(found[n + 2]) + "abcdefghi".indexOf(found[n + 1]));
  return [from, to];
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
  return armies.map((army) => "K" + army.map((n, kind) => "RNCPAB"[kind].repeat(n)).join("")).join("");
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

// A file at an address, and the chunks of it that have been fetched, by number. `whole` is the largest
// size in bytes to accept from a server that ignores ranges.
class RemoteFile {
  constructor(address, whole) {
    this.address = address;
    this.whole = whole;
    this.size = null;
    this.chunks = new Map();
  }

  // Copy bytes from `offset` to `out`. Returns the numbers of missing chunks; copies nothing if any is.
  copy(offset, out) {
    const missing = [];
    const last = Math.floor((offset + out.length - 1) / CHUNK);
    for (let number = Math.floor(offset / CHUNK); number <= last; number++)
      if (!this.chunks.has(number)) missing.push(number);
    for (let done = 0; missing.length === 0 && done < out.length; ) {
      const at = offset + done;
      const chunk = this.chunks.get(Math.floor(at / CHUNK));
      const part = chunk.subarray(at % CHUNK, (at % CHUNK) + out.length - done);
      out.set(part, done);
      done += part.length;
    }
    return missing;
  }

  keep(first, bytes) {
    for (let at = 0; at < bytes.length; at += CHUNK)
      this.chunks.set((first + at) / CHUNK, bytes.subarray(at, at + CHUNK));
  }

  // Fetch chunks from `number` to `last`; false if the file does not exist.
  async fetch(number, last) {
    const first = number * CHUNK;
    const end = Math.min((last + 1) * CHUNK, this.size ?? Infinity);
    const response = await fetch(this.address, { headers: { Range: `bytes=${first}-${end - 1}` } });
    if (response.status === 404 || response.status === 410) {
      await response.body?.cancel();
      return false;
    }
    if (response.status === 200) await this.takeWhole(response);
    else if (response.status === 206) await this.takePart(response, first, end);
    else throw new TablesError(`${this.address}: the server answers ${response.status}`);
    return true;
  }

  async takeWhole(response) {
    const length = Number(response.headers.get("Content-Length") ?? Infinity);
    if (length > this.whole) {
      await response.body?.cancel();
      const size = length === Infinity ? "a file of unknown size" : `a file of ${length} bytes`;
      throw new TablesError(
        `${this.address}: the server ignores Range and sends ${size}: use one that knows ranges, ` +
          `or allow more by the option \`whole\``,
      );
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    this.setSize(bytes.length);
    this.keep(0, bytes);
  }

  async takePart(response, first, end) {
    const bytes = new Uint8Array(await response.arrayBuffer());
    // Other origins may hide this header, but never the length of the file.
    const total = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
    const size = total === undefined ? (this.size ?? (await this.length())) : Number(total);
    this.setSize(size);
    if (bytes.length !== Math.min(end, size) - first)
      throw new TablesError(`${this.address}: the server sent other bytes than were asked for`);
    this.keep(first, bytes);
  }

  setSize(size) {
    if (this.size !== null && size !== this.size)
      throw new TablesError(`${this.address} has changed: load the page again`);
    this.size = size;
  }

  async length() {
    const length = (await fetch(this.address, { method: "HEAD" })).headers.get("Content-Length");
    if (length === null) throw new TablesError(`${this.address}: the server does not tell its size`);
    return Number(length);
  }
}

class Tables {
  #reader = null; // exports of xqprobe.wasm
  #files = [];
  #missing = new Map(); // file -> numbers of the chunks that a query lacked
  #opened = new Map(); // material -> promise: whether it has a table

  constructor(address, { rules = "wxf", kinds = ["dtm", "wdl"], whole = 16 << 20, memory = 64 << 20 }) {
    this.address = address === null ? null : String(address).replace(/\/*$/, "/");
    this.rules = rules;
    this.kinds = kinds;
    this.whole = whole;
    this.memory = memory;
  }

  async load(wasm) {
    const env = { xq_remote_read: (...numbers) => this.#read(...numbers) };
    const { instance } = await WebAssembly.instantiate(await wasm, { env });
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
    const missing = file.copy(Number(offset), out);
    if (missing.length === 0) return 0;
    const noted = this.#missing.get(file) ?? new Set();
    missing.forEach((chunk) => noted.add(chunk));
    this.#missing.set(file, noted);
    return COLD;
  }

  #check(status) {
    if (status >= 0) return status;
    throw new TablesError(this.#text(this.#reader.text(status)), status);
  }

  // Repeat a query until no bytes are missing, and return its answer. With `toEnd`, all bytes from the
  // first missing one to the end of the file are fetched.
  async #ask(question, toEnd = false) {
    for (;;) {
      this.#missing.clear();
      const answer = question();
      if (this.#missing.size === 0) return answer;
      const fetches = [];
      for (const [file, chunks] of this.#missing) {
        const numbers = [...chunks].sort((a, b) => a - b);
        if (toEnd) numbers.push(Math.floor((file.size - 1) / CHUNK));
        for (let n = 0; n < numbers.length; ) {
          const first = numbers[n];
          let last = first;
          while (n < numbers.length && (toEnd || numbers[n] <= last + 1)) last = numbers[n++];
          fetches.push(file.fetch(first, last));
        }
      }
      if (!(await Promise.all(fetches)).every(Boolean)) throw new TablesError("a table is gone");
    }
  }

  async add(address) {
    const file = new RemoteFile(String(address), this.whole);
    if (!(await file.fetch(0, 0))) return false;
    const number = this.#files.push(file) - 1;
    // The table of blocks, which `add` reads, is near the end of the file.
    const status = await this.#ask(() => this.#reader.add(number, file.size), true);
    try {
      this.#check(status);
    } catch (error) {
      throw new TablesError(`${address}: ${error.message}`, status);
    }
    return true;
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
    for (const kind of this.kinds)
      if (await this.add(`${this.address}${material}.${this.rules}.${kind}.xqt`)) return true;
    return false;
  }

  // Open the table of a position and, if `after`, those after its moves. `bestMove` needs no others: it
  // searches ahead, but the reader probes no position after a captured own piece, or two captures.
  async #prepare(position, after) {
    const pieces = [...position.board].filter((code) => code !== 0);
    const own = materialOf(pieces);
    if (own === null) return;
    const found = await this.#open(own);
    if (found === false && this.address !== null)
      throw new TablesError(`there is no table ${own}.${this.rules} at ${this.address}`, MISSING);
    if (after && this.address !== null)
      await Promise.all([...materialsAfter(pieces, position.side)].map((name) => this.#open(name)));
    this.#forget();
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
      return valueOf(this.#numbers(VALUE_NUMBERS));
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
      const moves = [];
      for (let at = VALUE_NUMBERS; at < numbers.length; at += MOVE_NUMBERS)
        moves.push(moveOf(numbers.subarray(at, at + MOVE_NUMBERS)));
      return { value: valueOf(numbers), moves };
    });
  }

  async bestMove(fen, played = []) {
    const position = positionOf(fen);
    const steps = played.map(stepOf);
    if (steps.length > MAX_PLAYED) throw new TablesError(`more than ${MAX_PLAYED} moves`);
    await this.#prepare(positionAfter(position, steps), true);
    return this.#ask(() => {
      this.#give(position, steps);
      const found = this.#reader.best(steps.length);
      if (found === COLD || this.#check(found) === 0) return null;
      const [from, to] = this.#numbers(2);
      return nameOf(from) + nameOf(to);
    });
  }
}

function valueOf([wdl, order, plies, metric]) {
  const known = wdl === 0 || METRICS[metric] !== null;
  return {
    outcome: OUTCOMES[wdl + 1],
    order: known ? order : null,
    plies: known ? plies : null,
    metric: METRICS[metric],
  };
}

function moveOf(numbers) {
  const [from, to, capture, check, best, status] = numbers;
  return {
    move: nameOf(from) + nameOf(to),
    capture: capture !== 0,
    check: check !== 0,
    best: best !== 0,
    value: status === MISSING ? null : valueOf(numbers.subarray(6)),
  };
}

async function bytesOf(wasm) {
  if (wasm instanceof ArrayBuffer || ArrayBuffer.isView(wasm)) return wasm;
  const address = new URL(wasm, import.meta.url);
  if (address.protocol === "file:") return (await import("node:fs/promises")).readFile(address);
  const response = await fetch(address);
  if (!response.ok) throw new TablesError(`${address}: the server answers ${response.status}`);
  return response.arrayBuffer();
}

export async function openTables(address, options = {}) {
  const tables = new Tables(address, options);
  return tables.load(bytesOf(options.wasm ?? "xqprobe.wasm"));
}
