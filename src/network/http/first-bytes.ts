/**
 * Several protocols on one port: the first bytes of a connection say which one it is.
 *
 *     connection ──► first bytes ──► server ──► the one that listens, or another
 *
 * 1. The bytes are put back: the server that gets the connection reads them as if they had just come.
 * 2. A client that says nothing loses its connection.
 */
import type { Server, Socket } from "node:net";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
const SILENT_MS = 20_000;
const MOST_BYTES = 20_000;

/** What the first bytes say; undefined: too few to know. */
export type Judge = (first: Buffer) => boolean | undefined;

/** Whether it is HTTP/2 without TLS. */
export function isPreface(first: Buffer): boolean | undefined {
  const length = Math.min(first.length, PREFACE.length);
  if (!first.subarray(0, length).equals(PREFACE.subarray(0, length))) return false;
  return length < PREFACE.length ? undefined : true;
}

/** Connections that the judge wants go to the other server. It does not listen itself. */
export function divert(server: Server, judge: Judge, other: Pick<Server, "emit">): void {
  divertTo(server, (socket, first) => {
    const verdict = judge(first);
    const take = () => {
      other.emit("connection", socket);
      flow(socket);
    };
    return verdict === undefined ? "wait" : verdict ? take : "own";
  });
}

/** `choose`: who takes the connection, or whether more bytes are needed to know. */
export function divertTo(
  server: Server,
  choose: (socket: Socket, first: Buffer) => "wait" | "own" | (() => void),
): void {
  const own = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    inspect(
      socket,
      (first) => choose(socket, first),
      () => {
        for (const serve of own) serve.call(server, socket);
      },
    );
  });
}

/** Whoever reads by events has asked for them when this turn ends. */
function flow(socket: Socket): void {
  process.nextTick(() => socket.resume());
}

/** Who takes this connection: whoever `choose` names, or `own`. It is paused for the one that `choose` names. */
export function inspect(
  socket: Socket,
  choose: (first: Buffer) => "wait" | "own" | (() => void),
  own: () => void,
): void {
  let first = Buffer.alloc(0);
  const end = () => socket.destroy();
  const look = (chunk: Buffer) => {
    first = Buffer.concat([first, chunk]);
    const chosen = first.length > MOST_BYTES ? "own" : choose(first);
    if (chosen === "wait") return;
    socket.off("data", look).off("error", end).off("timeout", end).off("end", end);
    socket.setTimeout(0);
    socket.pause();
    socket.unshift(first);
    if (chosen !== "own") {
      chosen();
      return;
    }
    own();
    flow(socket);
  };
  socket.setTimeout(SILENT_MS);
  socket.on("data", look).on("error", end).on("timeout", end).on("end", end);
}
