// Files of a web server, read by range requests, for xqprobe.js. MIT licence.

export const CHUNK = 32768; // bytes of a chunk; files are fetched in whole chunks
const SIGNATURE = 0x89; // first byte of every table file
const ABSENT = [403, 404, 410]; // object stores answer 403 for a missing file

export class TablesError extends Error {
  constructor(message, status = null, cause = undefined) {
    super(message, { cause });
    this.name = "TablesError";
    this.status = status;
  }
}

// Await a step; an error of another kind becomes a TablesError that begins with `message`.
export async function described(step, message) {
  try {
    return await step;
  } catch (cause) {
    throw new TablesError(`${message}: ${cause.message}`, null, cause);
  }
}

export const request = (address, options = {}) =>
  described(fetch(address, options), `${address}: no answer that this page may read`);

export const bodyOf = (address, response) =>
  described(response.arrayBuffer(), `${address}: the answer is incomplete`);

const lengthOf = (response) => Number(response.headers.get("Content-Length") ?? Infinity);

// A file at an address, and the chunks of it that have been fetched. `whole` is the largest size in
// bytes to accept from a server that ignores ranges.
export class RemoteFile {
  constructor(address, whole) {
    this.address = address;
    this.whole = whole;
    this.size = null;
    this.forbidden = false; // whether the server answered 403
    this.chunks = new Map(); // number -> bytes
    this.coming = new Map(); // number -> promise of a request for this chunk
  }

  // Copy the bytes from `offset` to `out`; if chunks are missing, only return their numbers.
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

  // Store bytes that begin with chunk `first`, and return their chunks.
  keep(first, bytes) {
    const chunks = [];
    for (let at = 0; at < bytes.length; at += CHUNK) {
      const part = bytes.subarray(at, at + CHUNK);
      this.chunks.set(first + at / CHUNK, part);
      chunks.push({ file: this, number: first + at / CHUNK, bytes: part });
    }
    return chunks;
  }

  // Fetch chunks, given by ascending numbers, and return all chunks of the answers. Neighbours need
  // one request; chunks that another query has requested are only awaited.
  async load(numbers) {
    for (let n = 0; n < numbers.length; ) {
      const run = [numbers[n++]];
      if (this.coming.has(run[0])) continue;
      while (numbers[n] === run.at(-1) + 1 && !this.coming.has(numbers[n])) run.push(numbers[n++]);
      const fetching = this.fetch(run[0], run.at(-1));
      const end = () => run.forEach((number) => this.coming.delete(number));
      run.forEach((number) => this.coming.set(number, fetching));
      fetching.then(end, end);
    }
    const answers = await Promise.all(new Set(numbers.map((number) => this.coming.get(number))));
    if (answers.includes(null))
      throw new TablesError(`${this.address} is gone: load the page again`);
    return answers.flat();
  }

  // Fetch chunks from `number` to `last`, and return them; null if the file does not exist.
  async fetch(number, last) {
    const first = number * CHUNK;
    const end = Math.min((last + 1) * CHUNK, this.size ?? Infinity);
    const range = { headers: { Range: `bytes=${first}-${end - 1}` } };
    const response = await request(this.address, range);
    if (ABSENT.includes(response.status)) {
      this.forbidden = response.status === 403;
      response.body?.cancel().catch(() => {});
      return null;
    }
    if (response.status !== 200 && response.status !== 206) {
      response.body?.cancel().catch(() => {});
      throw new TablesError(`${this.address}: the server answers ${response.status}`);
    }
    const whole = response.status === 200;
    // Some servers send a page of the site in place of a missing file.
    const isHtml = /^text\/html/.test(response.headers.get("Content-Type") ?? "");
    if (isHtml && number === 0 && whole && lengthOf(response) > this.whole) {
      response.body?.cancel().catch(() => {});
      return null;
    }
    const chunks = await (whole
      ? this.takeWhole(response)
      : this.takePart(response, number, first, end));
    return isHtml && number === 0 && chunks[0]?.bytes[0] !== SIGNATURE ? null : chunks;
  }

  async takeWhole(response) {
    const length = lengthOf(response);
    if (length > this.whole) {
      await response.body?.cancel();
      const size = length === Infinity ? "a file of unknown size" : `a file of ${length} bytes`;
      throw new TablesError(
        `${this.address}: the server ignores Range and sends ${size}: use one that knows ranges, ` +
          `or allow more by the option \`whole\``,
      );
    }
    const bytes = new Uint8Array(await bodyOf(this.address, response));
    this.setSize(bytes.length);
    return this.keep(0, bytes);
  }

  async takePart(response, number, first, end) {
    const bytes = new Uint8Array(await bodyOf(this.address, response));
    // Another origin may hide this header, but never Content-Length.
    const total = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
    const size = total === undefined ? (this.size ?? (await this.length())) : Number(total);
    this.setSize(size);
    if (bytes.length !== Math.min(end, size) - first)
      throw new TablesError(`${this.address}: the server sent other bytes than were asked for`);
    return this.keep(number, bytes);
  }

  setSize(size) {
    if (this.size !== null && size !== this.size)
      throw new TablesError(`${this.address} has changed: load the page again`);
    this.size = size;
  }

  async length() {
    const { ok, status, headers } = await request(this.address, { method: "HEAD" });
    const length = headers.get("Content-Length");
    if (ok && length !== null) return Number(length);
    throw new TablesError(
      `${this.address}: the server hides its size (HEAD: ${ok ? "no Content-Length" : status}): ` +
        "let it expose Content-Range by Access-Control-Expose-Headers",
    );
  }
}
