/** The public surface of events.k8s.io. */
import type { Kind } from "../machinery/kind.ts";
import { Event } from "./event.ts";

export { fromCoreEvent, toCoreEvent } from "./event.ts";

export const eventsKinds: readonly Kind[] = [Event];
