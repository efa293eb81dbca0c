/**
 * The device plugins that are there, one for each resource: the last one that registered.
 *
 *     connect ──► begin ──► list, list … ──► gone
 */
import { type Clock, isAbort, type Logger, TaskGroup } from "#base";
import type { PluginDevice } from "./known-devices.ts";
import { connectPlugin, type PluginConnection, type PluginOptions } from "./plugin-connection.ts";

export interface PluginSetOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onBegin: (resource: string) => void;
  readonly onList: (resource: string, devices: readonly PluginDevice[]) => void;
  readonly onGone: (resource: string) => void;
}

interface Member {
  readonly plugin: PluginConnection;
  readonly ending: AbortController;
}

export class PluginSet {
  readonly #options: PluginSetOptions;
  readonly #members = new Map<string, Member>();
  readonly #tasks = new TaskGroup();

  constructor(options: PluginSetOptions) {
    this.#options = options;
  }

  get(resource: string): PluginConnection | undefined {
    return this.#members.get(resource)?.plugin;
  }

  async connect(
    resource: string,
    endpoint: string,
    given: PluginOptions | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const plugin = await connectPlugin(endpoint, this.#options.clock, given, signal);
    const member: Member = { plugin, ending: new AbortController() };
    const before = this.#members.get(resource);
    this.#members.set(resource, member);
    before?.ending.abort();
    this.#options.onBegin(resource);
    this.#tasks.run(`device plugin ${resource}`, (running) =>
      this.#watch(resource, member, AbortSignal.any([running, member.ending.signal])),
    );
  }

  remove(resource: string): void {
    this.#members.get(resource)?.ending.abort();
  }

  async #watch(resource: string, member: Member, signal: AbortSignal): Promise<void> {
    const { log, onList, onGone } = this.#options;
    const isCurrent = () => this.#members.get(resource) === member;
    try {
      for await (const devices of member.plugin.lists(signal)) if (isCurrent()) onList(resource, devices);
    } catch (error) {
      if (!isAbort(error, signal)) log.warn("ListAndWatch of a device plugin has ended", { resource, error });
    } finally {
      member.plugin.close();
      if (isCurrent()) {
        this.#members.delete(resource);
        if (!this.#tasks.signal.aborted) onGone(resource);
      }
    }
  }

  async close(): Promise<void> {
    await this.#tasks.stop();
  }
}
