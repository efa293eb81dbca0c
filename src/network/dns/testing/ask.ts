/** Queries a DNS server on loopback, with a codec that is not ours. */
import { createSocket } from "node:dgram";
import { connect } from "node:net";
import {
  type DecodedPacket,
  decode,
  encode,
  type Packet,
  RECURSION_DESIRED,
  type RecordType,
  streamDecode,
  streamEncode,
} from "dns-packet";

/** The package's types leave out the response code. */
export type Response = DecodedPacket & { readonly rcode: string };

export interface AskOptions {
  readonly edns?: number;
  readonly tcp?: boolean;
}

export async function askServer(
  port: number,
  name: string,
  type: RecordType,
  options: AskOptions = {},
): Promise<Response> {
  const packet: Packet = {
    type: "query",
    id: 4711,
    flags: RECURSION_DESIRED,
    questions: [{ name, type }],
    ...(options.edns !== undefined && {
      additionals: [
        {
          type: "OPT",
          name: ".",
          udpPayloadSize: options.edns,
          flags: 0,
          flag_do: false,
          extendedRcode: 0,
          ednsVersion: 0,
          options: [],
        },
      ],
    }),
  };
  return options.tcp === true ? overTcp(port, packet) : (decode(await sendRaw(port, encode(packet))) as Response);
}

export async function sendRaw(port: number, message: Buffer): Promise<Buffer> {
  const socket = createSocket("udp4");
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      socket.on("error", reject);
      socket.on("message", resolve);
      socket.send(message, port, "127.0.0.1");
    });
  } finally {
    socket.close();
  }
}

function overTcp(port: number, packet: Packet): Promise<Response> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let received: Buffer = Buffer.alloc(0);
    socket.on("error", reject);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      socket.destroy();
      resolve(streamDecode(received) as Response);
    });
    socket.write(streamEncode(packet));
  });
}

/** The answers in the form `A 10.0.0.1`. */
export function answersOf({ answers = [] }: Pick<DecodedPacket, "answers">): string[] {
  return answers.map((answer) => {
    if (answer.type === "SRV") {
      const { priority, weight, port, target } = answer.data;
      return `SRV ${priority} ${weight} ${port} ${target}`;
    }
    return `${answer.type} ${"data" in answer ? String(answer.data) : ""}`;
  });
}
