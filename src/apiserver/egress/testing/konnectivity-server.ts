/** A konnectivity server for tests, which connects by itself: real gRPC at a Unix socket. */
import { connect, type Socket } from "node:net";
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import { PACKET, PROXY, type ReceivedPacket, type SentPacket } from "../konnectivity.ts";

export interface KonnectivityServer {
  /** `host:port`, in order. */
  readonly asked: readonly string[];
  /** Answers dials with this error from now on. */
  refuse: string | undefined;
  /** Connections that callers have asked to close. */
  readonly closed: readonly string[];
  close(): void;
}

type Call = ServerDuplexStream<ReceivedPacket, SentPacket>;

export async function konnectivityServer(path: string): Promise<KonnectivityServer> {
  const asked: string[] = [];
  const closed: string[] = [];
  const sockets = new Set<Socket>();
  const server = new Server();
  const konnectivity = {
    asked,
    closed,
    refuse: undefined as string | undefined,
    close() {
      for (const each of sockets) each.destroy();
      server.forceShutdown();
    },
  };
  let connections = 0;

  function dial(call: Call, { address, random }: NonNullable<ReceivedPacket["dialRequest"]>): Socket | undefined {
    asked.push(address);
    const answer = (error: string) => {
      const dialResponse = { error, connectID, random };
      call.write({ type: PACKET.dialResponse, dialResponse });
    };
    const connectID = String(++connections);
    if (konnectivity.refuse !== undefined) {
      answer(konnectivity.refuse);
      return undefined;
    }
    const { hostname, port } = new URL(`tcp://${address}`);
    const socket = connect({ host: hostname, port: Number(port) });
    sockets.add(socket);
    socket.once("connect", () => answer(""));
    socket.on("error", (error) => answer(error.message));
    socket.on("data", (data: Buffer) => call.write({ type: PACKET.data, data: { connectID, data } }));
    socket.once("end", () => call.write({ type: PACKET.closeResponse, closeResponse: { connectID } }));
    return socket;
  }

  const proxy = (call: Call) => {
    let socket: Socket | undefined;
    call.on("error", () => {});
    call.on("data", ({ type, dialRequest, data, closeRequest }: ReceivedPacket) => {
      if (type === PACKET.dialRequest && dialRequest !== null) socket = dial(call, dialRequest);
      if (type === PACKET.data && data !== null) socket?.write(data.data);
      if (type !== PACKET.closeRequest || closeRequest === null) return;
      closed.push(closeRequest.connectID);
      socket?.destroy();
    });
    call.once("end", () => call.end());
  };
  const method: Readonly<Record<string, unknown>> = {
    path: PROXY.path,
    requestStream: true,
    responseStream: true,
    requestSerialize: PROXY.encode,
    requestDeserialize: PROXY.decodeRequest,
    responseSerialize: PROXY.encodeResponse,
    responseDeserialize: PROXY.decode,
  };
  server.addService({ Proxy: method } as unknown as ServiceDefinition, { Proxy: proxy as UntypedHandleCall });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.bindAsync(`unix://${path}`, ServerCredentials.createInsecure(), (error) =>
    error === null ? resolve() : reject(error),
  );
  await promise;
  return konnectivity;
}
