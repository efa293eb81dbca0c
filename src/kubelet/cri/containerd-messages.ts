/** containerd's own event stream, for versions before 1.7, whose CRI has none. `#grpc` explains the tables. */
import { type Method, type Methods, methodsOf, type Received, type Sent } from "#grpc";

const messages = {
  SubscribeRequest: { filters: [1, "string[]"] },
  Any: { typeUrl: [1, "string"], value: [2, "bytes"] },
  Envelope: { namespace: [2, "string"], topic: [3, "string"], event: [4, "Any"] },
  /** For all events of containers and tasks: the container, and for tasks the process. */
  ContainerId: { id: [1, "string"] },
  TaskExit: { containerId: [1, "string"], id: [2, "string"] },
} as const;

const service = {
  Subscribe: ["SubscribeRequest", "Envelope"],
  // Never called: they provide the decoders of the messages inside of an envelope.
  ContainerId: ["ContainerId", "ContainerId"],
  TaskExit: ["TaskExit", "TaskExit"],
} as const;

export type Envelope = Received<typeof messages, "Envelope">;
export type ContainerdMethods = Methods<typeof messages, typeof service>;
export type Subscribe = Method<Sent<typeof messages, "SubscribeRequest">, Envelope>;

export function containerdMethods(): ContainerdMethods {
  return methodsOf("containerd.services.events.v1.Events", messages, service);
}
