/** The runtime's events: CRI's own where the runtime has them, else containerd's. */
import { Metadata } from "@grpc/grpc-js";
import type { Clock } from "#base";
import { RuntimeError, type RuntimeEvent } from "../runtime/runtime.ts";
import type { Channel } from "./channel.ts";
import { type Change, type CriView, changeIn, confirmedEvents, FILTERS, NAMESPACE } from "./containerd-events.ts";
import { containerdMethods } from "./containerd-messages.ts";
import { isUnimplemented } from "./failure.ts";
import { fromEvent } from "./from-cri.ts";
import type { RuntimeMethods } from "./messages.ts";

export interface EventSources {
  readonly channel: Channel;
  readonly methods: Pick<RuntimeMethods, "GetContainerEvents">;
  readonly view: CriView;
  readonly clock: Clock;
}

export async function* runtimeEvents(sources: EventSources, signal: AbortSignal): AsyncGenerator<RuntimeEvent, void> {
  const { channel, methods, view, clock } = sources;
  try {
    for await (const event of channel.stream(methods.GetContainerEvents, {}, signal)) {
      const known = fromEvent(event);
      if (known !== undefined) yield known;
    }
  } catch (error) {
    if (!(error instanceof RuntimeError && isUnimplemented(error))) throw error;
    yield* confirmedEvents({ changes: (until) => containerdChanges(channel, until), view, clock }, signal);
  }
}

async function* containerdChanges(channel: Channel, signal: AbortSignal): AsyncGenerator<Change, void> {
  const methods = containerdMethods();
  const metadata = new Metadata();
  metadata.set("containerd-namespace", NAMESPACE);
  for await (const envelope of channel.stream(methods.Subscribe, { filters: FILTERS }, signal, metadata)) {
    const change = changeIn(envelope, methods);
    if (change !== undefined) yield change;
  }
}
