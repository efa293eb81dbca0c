/** Asks a DNS server on loopback, with a codec that is not ours. */
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

/** As it is decoded; its types leave the code out. */
export type Asked = DecodedPacket & { readonly rcode: string };

export interface AskOptions {
  readonly edns?: number;
  readonly tcp?: boolean;
}

export async function askServer(
  port: number,
  name: string,
  type: RecordType,
  options: AskOptions = {},
): Promise<Asked> {
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
  return options.tcp === true ? overTcp(port, packet) : (decode(await sendRaw(port, encode(packet))) as Asked);
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

function overTcp(port: number, packet: Packet): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let received: Buffer = Buffer.alloc(0);
    socket.on("error", reject);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      socket.destroy();
      resolve(streamDecode(received) as Asked);
    });
    socket.write(streamEncode(packet));
  });
}

/** `A 10.0.0.1`, as a test reads it. */
export function told({ answers = [] }: Pick<DecodedPacket, "answers">): string[] {
  return answers.map((answer) => {
    if (answer.type === "SRV") {
      const { priority, weight, port, target } = answer.data;
      return `SRV ${priority} ${weight} ${port} ${target}`;
    }
    return `${answer.type} ${"data" in answer ? String(answer.data) : ""}`;
  });
}
