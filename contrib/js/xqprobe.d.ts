/** Rule set of tables, as in file names. */
export type Rules =
  /* begin of rule sets: contrib/rulesets.py */
  | "none"
  | "check"
  | "wxf"
  | "wxf-nominor"
  | "computer"
  | "taiwan"
  | "unprotected";
  /* end of rule sets */

/** Value of a position for the side to move (docs/values.md). */
export interface Value {
  outcome: "win" | "draw" | "loss";
  /** 0: a draw, or decided by mate or conversion; 1 or more: decided by the rules of repetition.
   * Null if the table has outcomes only. */
  order: number | null;
  /** Distance to mate, to conversion, or to the position from which the loser must offend
   * perpetually. Null for draws, and if the table has outcomes only. */
  plies: number | null;
  /** Metric of `plies` at order 0; null if the table has outcomes only, and for draws without one. */
  metric: "dtm" | "dtc" | null;
}

/** A legal move, and its value for the moving side. */
export interface Move {
  /** Source and target square, such as "a0a1". */
  move: string;
  capture: boolean;
  check: boolean;
  /** True if the move is known to be best. No move is, if the best is one of several without a table.
   */
  best: boolean;
  /** Null if the table after the move is missing; if the position itself has distances, also if the
   * table after the move has outcomes only. */
  value: Value | null;
}

export interface Options {
  /** Default: "wxf". */
  rules?: Rules;
  /** Kinds of files in order of preference, default ["dtm", "wdl"]; also "dtc". */
  kinds?: string[];
  /** Largest file in bytes to download from a server without byte ranges; default 16 MiB. */
  whole?: number;
  /** Approximate size of the cache of files in bytes; default 64 MiB. */
  memory?: number;
  /** The reader, or its address relative to xqprobe.js; default "xqprobe.wasm". */
  wasm?: string | URL | ArrayBuffer | ArrayBufferView;
}

/** Error of a query: an invalid position, or a fault of the tables or their server. `cause` is the
 * browser's error, if there was one. */
export class TablesError extends Error {
  constructor(message: string, status?: number | null, cause?: unknown);
  /** Status of the reader (xq_status in xqprobe.h), -1 for a missing table; null for other
   * errors. */
  status: number | null;
}

/** Tables of one rule set. Queries may run concurrently. */
export interface Tables {
  /** Open a table at its own address, beside those of the directory; false if it does not exist
   * (the server answers 403, 404, 410 or a page in HTML). */
  add(address: string | URL): Promise<boolean>;
  /** The value of a position. */
  value(fen: string): Promise<Value>;
  /** The value and all legal moves, best first. */
  moves(fen: string): Promise<{ value: Value; moves: Move[] }>;
  /** The move to play after the moves `played` ("a0a1" each) from the position; null if the side
   * to move has no legal move. With distances, repetitions lose no win. With outcomes only, each
   * move keeps the outcome, but may not come nearer to a win, which a repetition may end. */
  bestMove(fen: string, played?: string[]): Promise<string | null>;
}

/** Tables in a directory of a web server, opened when a query needs them; with address null only
 * those that are added. A query of the address (`?v=2`) follows the name of each file. */
export function openTables(address: string | URL | null, options?: Options): Promise<Tables>;
