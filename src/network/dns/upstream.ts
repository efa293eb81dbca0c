/**
 * Sends one question to one server: over UDP, then over TCP if the response was truncated.
 *
 * 1. Each question has its own socket and a random id: a spoofed response has to guess both.
 * 2. Messages that do not answer this question are ignored.
 */
import { createSocket } from "node:dgram";
import { connect, isIPv6 } from "node:net";
import { abortable } from "#base";

export interface UpstreamAddress {
  readonly host: string;
  readonly port: number;
}

/** The bytes of the response, with the id of the question. */
export async function ask(to: UpstreamAddress, message: Buffer, signal: AbortSignal): Promise<Buffer> {
  const answer = await askUdp(to, message, signal);
  const isTruncated = ((answer[2] ?? 0) & 0x02) !== 0;
  return isTruncated ? askTcp(to, message, signal) : answer;
}

/** By one protocol only: a truncated response stays truncated. */
export function askDns(
  to: UpstreamAddress,
  message: Buffer,
  over: "udp" | "tcp",
  signal: AbortSignal,
): Promise<Buffer> {
  return over === "udp" ? askUdp(to, message, signal) : askTcp(to, message, signal);
}

async function askUdp({ host, port }: UpstreamAddress, message: Buffer, signal: AbortSignal): Promise<Buffer> {
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  try {
    const answered = Promise.withResolvers<Buffer>();
    socket.on("error", (error) => answered.reject(error));
    socket.on("message", (bytes) => {
      if (answers(bytes, message)) answered.resolve(bytes);
    });
    const connected = Promise.withResolvers<void>();
    socket.connect(port, host, connected.resolve);
    await abortable(Promise.race([connected.promise, answered.promise]), signal);
    socket.send(message);
    return await abortable(answered.promise, signal);
  } finally {
    socket.close();
  }
}

async function askTcp({ host, port }: UpstreamAddress, message: Buffer, signal: AbortSignal): Promise<Buffer> {
  const socket = connect({ host, port, signal });
  try {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    socket.write(Buffer.concat([length, message]));
    let received: Buffer = Buffer.alloc(0);
    for await (const chunk of socket) {
      received = Buffer.concat([received, chunk as Buffer]);
      const end = received.length < 2 ? Number.POSITIVE_INFINITY : 2 + received.readUInt16BE(0);
      if (received.length < end) continue;
      const answer = received.subarray(2, end);
      if (answers(answer, message)) return answer;
      break;
    }
    throw new Error(`${host}:${port} did not answer over TCP`);
  } finally {
    socket.destroy();
  }
}

/** A response with the same id and the same question, except for upper and lower case. */
function answers(answer: Buffer, question: Buffer): boolean {
  if (answer.length < 12 || answer.readUInt16BE(0) !== question.readUInt16BE(0)) return false;
  if (((answer[2] ?? 0) & 0x80) === 0 || answer.readUInt16BE(4) !== 1) return false;
  const end = questionEnd(question);
  return answer.toString("latin1", 12, end).toLowerCase() === question.toString("latin1", 12, end).toLowerCase();
}

function questionEnd(message: Buffer): number {
  let at = 12;
  while (at < message.length && message[at] !== 0) at += 1 + (message[at] ?? 0);
  return at + 5;
}
