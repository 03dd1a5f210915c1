/** The rule set of tables, as in the names of their files. */
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

/** What a position is worth to the side to move (docs/values.md). */
export interface Value {
  outcome: "win" | "draw" | "loss";
  /** 0: by mate or conversion; 1 and more: by the rules of repetition. Null where outcomes are all there is. */
  order: number | null;
  /** To the mate, the conversion, or the position from which the loser must offend for ever. */
  plies: number | null;
  /** What `plies` of order 0 count to; null for outcomes alone. */
  metric: "dtm" | "dtc" | null;
}

/** A legal move, and what it is worth to the side that makes it. */
export interface Move {
  /** As in "a0a1". */
  move: string;
  capture: boolean;
  check: boolean;
  /** Whether no known move is better. */
  best: boolean;
  /** Null where it leads to a table that is not there. */
  value: Value | null;
}

export interface Options {
  /** "wxf" unless given. */
  rules?: Rules;
  /** Kinds of files, the first that is there is taken: ["dtm", "wdl"] unless given; also "dtc". */
  kinds?: string[];
  /** The most bytes of a file that a server may send whole where it ignores ranges: 16 MiB. */
  whole?: number;
  /** About how many bytes of files are kept: 64 MiB. */
  memory?: number;
  /** The reader, or its address from that of xqprobe.js on: "xqprobe.wasm". */
  wasm?: string | URL | ArrayBuffer | ArrayBufferView;
}

/** A question that has no answer: what is wrong with the position, the tables or their server. */
export class TablesError extends Error {
  /** The reader's number (xq_status in xqprobe.h), -1 where a table is missing; null for others. */
  status: number | null;
}

/** Tables of one rule set. Questions may be asked at the same time. */
export interface Tables {
  /** Open a table at an address of its own; false where there is none. */
  add(address: string | URL): Promise<boolean>;
  /** The value of a position. */
  value(fen: string): Promise<Value>;
  /** The value, and all legal moves, best first. */
  moves(fen: string): Promise<{ value: Value; moves: Move[] }>;
  /** The move to play after those that were played from the position on, "a0a1" each, so that
   * no won game is repeated away; null for a side that has lost. */
  bestMove(fen: string, played?: string[]): Promise<string | null>;
}

/** Tables in a directory of a web server, which are opened when a question needs them; none but those
 * that are added if the address is null. */
export function openTables(address: string | URL | null, options?: Options): Promise<Tables>;
