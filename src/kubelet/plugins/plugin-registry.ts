/**
 * Plugins that register with the kubelet: each puts a socket into a folder and says there what it is.
 *
 *     socket appears ──► GetInfo ──► handler of its type ──► NotifyRegistrationStatus
 *     socket is gone ──► the handler forgets the plugin
 *
 * 1. A socket that was made anew is registered anew: its plugin has restarted.
 * 2. A plugin that could not be registered is told why, and is tried again after a while.
 * 3. One that hangs holds up no other.
 * 4. Of several plugins with one name the newest is used: while a driver is replaced, the old and the new one are both
 *    there. If the newest goes first, the one before it is registered again.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, isAbort, KeyedBackoff, type Logger, type Random } from "#base";
import { openChannel } from "#grpc";
import { registrationMethods } from "./registration-messages.ts";

export interface Plugin {
  readonly name: string;
  /** Where it serves its own protocol. */
  readonly endpoint: string;
  readonly versions: readonly string[];
}

export interface PluginHandler {
  /** Throws, with the reason, if the plugin cannot be used. */
  register(plugin: Plugin, signal: AbortSignal): Promise<void>;
  deregister(name: string, signal: AbortSignal): Promise<void>;
}

export interface PluginRegistryOptions {
  readonly dir: string;
  /** By the type that plugins name. */
  readonly handlers: ReadonlyMap<string, PluginHandler>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Registered {
  readonly identity: string;
  readonly name: string;
  readonly handler: PluginHandler;
}

const LOOK_MS = 1000;
const CALL_TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 122_000;

/** Until the signal aborts. */
export async function runPluginRegistry(options: PluginRegistryOptions, signal: AbortSignal): Promise<void> {
  const { dir, clock, log } = options;
  const registered = new Map<string, Registered>();
  const backoff = new KeyedBackoff<string>({ initialMs: FIRST_RETRY_MS, maxMs: LAST_RETRY_MS }, options.random);
  const dueMs = new Map<string, number>();
  const busy = new Map<string, Promise<void>>();
  const introduce = async (path: string, identity: string) => {
    try {
      registered.set(path, { identity, ...(await introduced(options, path, signal)) });
      backoff.forget(path);
      dueMs.delete(path);
    } catch (error) {
      if (isAbort(error, signal)) return;
      dueMs.set(path, clock.monotonic() + backoff.next(path));
      log.warn("plugin could not be registered yet", { socket: path, error });
    } finally {
      busy.delete(path);
    }
  };
  try {
    for (;;) {
      const sockets = await socketsBelow(dir);
      for (const [path, known] of registered) {
        if (sockets.get(path) === known.identity) continue;
        const wasNewest = newestOf(registered, known) === path;
        registered.delete(path);
        log.info("plugin is gone", { plugin: known.name });
        const other = newestOf(registered, known);
        if (other === undefined && !sockets.has(path)) await known.handler.deregister(known.name, signal);
        if (other !== undefined && wasNewest) registered.delete(other);
      }
      for (const [path, identity] of sockets) {
        if (registered.has(path) || busy.has(path) || clock.monotonic() < (dueMs.get(path) ?? 0)) continue;
        busy.set(path, introduce(path, identity));
      }
      for (const path of dueMs.keys()) if (!sockets.has(path)) dueMs.delete(path);
      await clock.sleep(LOOK_MS, signal);
    }
  } finally {
    await Promise.all(busy.values());
  }
}

/** The path of the plugin of this name that registered last. */
function newestOf(registered: ReadonlyMap<string, Registered>, { name, handler }: Registered): string | undefined {
  return [...registered].findLast(([, each]) => each.name === name && each.handler === handler)?.[0];
}

async function introduced(
  { handlers, clock, log }: PluginRegistryOptions,
  socket: string,
  signal: AbortSignal,
): Promise<Omit<Registered, "identity">> {
  const { GetInfo, NotifyRegistrationStatus } = registrationMethods();
  const channel = openChannel(socket, { clock, timeoutMs: CALL_TIMEOUT_MS });
  const answer = (error: string) =>
    channel.call(NotifyRegistrationStatus, { pluginRegistered: error === "", error }, { signal });
  try {
    const { type, name, endpoint, supportedVersions } = await channel.call(GetInfo, {}, { signal });
    const handler = handlers.get(type);
    try {
      if (handler === undefined) throw new Error(`no handler registered for plugin type: ${type} at socket ${socket}`);
      await handler.register(
        { name, endpoint: endpoint === "" ? socket : endpoint, versions: supportedVersions },
        signal,
      );
    } catch (error) {
      if (isAbort(error, signal)) throw error;
      const reason = `RegisterPlugin error -- plugin registration failed with err: ${messageOf(error)}`;
      await answer(reason);
      throw new Error(reason, { cause: error });
    }
    await answer("");
    log.info("plugin registered", { plugin: name, type });
    return { name, handler };
  } finally {
    channel.close();
  }
}

/** Sockets by path, with what tells one from another at the same path. */
async function socketsBelow(dir: string): Promise<Map<string, string>> {
  const entries = await readdir(dir, { withFileTypes: true, recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const found = new Map<string, string>();
  for (const entry of entries) {
    if (!(entry.isSocket() || entry.isSymbolicLink()) || entry.name.startsWith(".")) continue;
    const path = join(entry.parentPath, entry.name);
    const stats = await stat(path).catch(() => undefined); // it has just gone, or leads nowhere
    if (stats?.isSocket() === true) found.set(path, `${stats.ino} ${stats.ctimeMs}`);
  }
  return found;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
