/**
 * Container events from containerd's own event stream, for versions whose CRI has no GetContainerEvents.
 *
 *     containerd --► envelope ──► change ──► CRI shows it? ──► event
 *                                              └···► ask again
 *
 * 1. containerd publishes a start or an exit a moment before its CRI shows it. An event is passed on only when CRI
 *    agrees, or after a second at most: a consumer that asks CRI because of an event sees the change.
 * 2. Events of one container keep their order; a delayed event delays no other container's.
 * 3. An OOM event is separate from the exit event and may come before or after it; CRI receives it at the same time as
 *    this code. It is passed on a second later as one more exit: by then CRI reports OOMKilled, also to a consumer that
 *    asked too early.
 */
import { type Clock, childController, Channel as Queue } from "#base";
import { type Container, type PodSandbox, RuntimeError, type RuntimeEvent } from "../runtime/runtime.ts";
import type { ContainerdMethods, Envelope } from "./containerd-messages.ts";

export const NAMESPACE = "k8s.io";
/** One of these filters must match; within a filter all parts must. */
export const FILTERS = ["/containers/create", "/containers/delete", "/tasks/start", "/tasks/exit", "/tasks/oom"].map(
  (topic) => `namespace==${NAMESPACE},topic=="${topic}"`,
);

const FIRST_DELAY_MS = 5;
const PATIENCE_MS = 1_000;
const MAX_WAITING = 100_000;

export interface Change {
  readonly type: RuntimeEvent["type"];
  readonly id: string;
  /** CRI need not agree, but gets a second to process the event itself. */
  readonly isLate?: boolean;
}

type Decoders = Pick<ContainerdMethods, "ContainerId" | "TaskExit">;

/** Undefined for events that change no container, such as the exit of an exec. Throws RuntimeError. */
export function changeIn(envelope: Envelope, decoders: Decoders): Change | undefined {
  try {
    return decoded(envelope, decoders);
  } catch (error) {
    throw new RuntimeError("Unknown", `containerd's event ${envelope.topic} cannot be decoded`, { cause: error });
  }
}

function decoded({ topic, event }: Envelope, { ContainerId, TaskExit }: Decoders): Change | undefined {
  if (event === null) return undefined;
  const id = () => ContainerId.decode(event.value).id;
  switch (topic) {
    case "/containers/create":
      return { type: "created", id: id() };
    case "/containers/delete":
      return { type: "deleted", id: id() };
    case "/tasks/start":
      return { type: "started", id: id() };
    case "/tasks/exit": {
      const { containerId, id: process } = TaskExit.decode(event.value);
      return process === containerId ? { type: "stopped", id: containerId } : undefined;
    }
    case "/tasks/oom":
      return { type: "stopped", id: id(), isLate: true };
    default:
      return undefined;
  }
}

export interface CriView {
  container(id: string): Promise<Container | undefined>;
  sandbox(id: string): Promise<PodSandbox | undefined>;
}

/** What an event needs to know of a container or sandbox. */
export interface Seen {
  readonly podSandboxId?: string;
  readonly state: "absent" | "created" | "running" | "ended";
}

const AGREES: Readonly<Record<RuntimeEvent["type"], readonly Seen["state"][]>> = {
  created: ["created", "running", "ended"],
  started: ["running", "ended"],
  stopped: ["ended", "absent"],
  deleted: ["absent"],
};

export function agrees({ type }: Change, { state }: Seen): boolean {
  return AGREES[type].includes(state);
}

export interface ConfirmedOptions {
  /** Changes as containerd publishes them, until the signal aborts. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<Change>;
  readonly view: CriView;
  readonly clock: Clock;
}

/** Ends with the signal; throws as the changes do. */
export async function* confirmedEvents(
  { changes, view, clock }: ConfirmedOptions,
  signal: AbortSignal,
): AsyncGenerator<RuntimeEvent, void> {
  using taking = childController(signal);
  const events = new Queue<RuntimeEvent>({ capacity: MAX_WAITING });
  const sandboxOf = new Map<string, string>();
  const underway = new Map<string, Promise<void>>();

  /** A failure after the consumer has left or the signal has aborted is a normal end. */
  const end = (error: unknown) => (taking.signal.aborted ? events.close() : events.fail(error));
  const pass = async (change: Change) => {
    const seen = await agreed(change, view, clock, taking.signal);
    if (seen.podSandboxId !== undefined) sandboxOf.set(change.id, seen.podSandboxId);
    const podSandboxId = sandboxOf.get(change.id);
    if (change.type === "deleted") sandboxOf.delete(change.id);
    const event = { type: change.type, containerId: change.id, podSandboxId };
    if (!events.push(event)) events.fail(new RuntimeError("Unavailable", "events were taken too slowly"));
  };
  const take = async () => {
    for await (const change of changes(taking.signal)) {
      const lane = change.isLate === true ? `${change.id}, late` : change.id;
      const earlier = underway.get(lane) ?? Promise.resolve();
      const mine = earlier
        .then(() => pass(change))
        .catch(end)
        .finally(() => {
          if (underway.get(lane) === mine) underway.delete(lane);
        });
      underway.set(lane, mine);
    }
  };
  const taken = take().then(() => events.close(), end);
  try {
    yield* events;
  } finally {
    taking.abort();
    await taken;
    await Promise.all(underway.values());
  }
}

async function agreed(change: Change, view: CriView, clock: Clock, signal: AbortSignal): Promise<Seen> {
  if (change.isLate === true) {
    await clock.sleep(PATIENCE_MS, signal).catch(() => {}); // as below
    return look(change.id, view);
  }
  const until = clock.monotonic() + PATIENCE_MS;
  for (let delayMs = FIRST_DELAY_MS; ; delayMs *= 2) {
    const seen = await look(change.id, view);
    if (agrees(change, seen) || signal.aborted || clock.monotonic() >= until) return seen;
    await clock.sleep(delayMs, signal).catch(() => {}); // the consumer has left
  }
}

async function look(id: string, view: CriView): Promise<Seen> {
  const container = await view.container(id);
  if (container !== undefined) {
    const { state, podSandboxId } = container;
    return { podSandboxId, state: state === "running" || state === "created" ? state : "ended" };
  }
  const sandbox = await view.sandbox(id);
  if (sandbox === undefined) return { state: "absent" };
  return { podSandboxId: id, state: sandbox.state === "ready" ? "running" : "ended" };
}
