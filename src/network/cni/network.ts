/**
 * Attaches containers to a network and detaches them, by the Container Network Interface (CNI 1.0).
 *
 *     attach ──► plugin 1 ──► plugin 2 ──► … each with the result of the one before ──► the container's addresses
 *     detach ──► … plugin 2 ──► plugin 1
 *     collect ──► detaches containers that no longer exist
 *
 * 1. An attachment that fails halfway is undone at once.
 * 2. Detaching what is not attached succeeds, so that it can be retried after every failure.
 */
import type { Json, JsonObject } from "#api";
import type { Clock } from "#base";
import { Attachments, type KeptAttachment } from "./attachments.ts";
import { CniError, GENERIC } from "./cni-error.ts";
import type { NetworkConfiguration, PluginConfiguration } from "./configuration.ts";
import { type Attachment, type Command, callPlugin, findPlugin, type PluginRunner } from "./plugin.ts";
import { addressesOf } from "./result.ts";

const UNDO_MS = 30_000;

export interface NetworkOptions extends PluginRunner {
  readonly configuration: NetworkConfiguration;
  /** The folder of attachment records. */
  readonly stateFolder: string;
  readonly clock: Clock;
}

export interface AttachResult {
  /** Without prefix lengths. */
  readonly addresses: readonly string[];
  /** The result of the last plugin. */
  readonly result: JsonObject;
}

export class Network {
  readonly #options: NetworkOptions;
  readonly #attachments: Attachments;

  constructor(options: NetworkOptions) {
    this.#options = options;
    this.#attachments = new Attachments(options.stateFolder);
  }

  async attach(attachment: Attachment, signal: AbortSignal): Promise<AttachResult> {
    const { name: network, plugins } = this.#options.configuration;
    if (await this.#attachments.find({ network, ...attachment }))
      throw new CniError(
        GENERIC,
        `${attachment.containerId} is attached to "${network}" by ${attachment.ifName} already`,
      );
    for (const { type } of plugins) await findPlugin(type, this.#options.paths);
    await this.#attachments.keep({ network, ...attachment });
    try {
      let result: JsonObject | undefined;
      for (const plugin of plugins) result = (await this.#call("ADD", plugin, attachment, result, signal)) ?? result;
      if (result === undefined) throw new CniError(GENERIC, `no plugin of "${network}" returned a result`);
      await this.#attachments.keep({ network, ...attachment, result });
      return { addresses: addressesOf(result), result };
    } catch (error) {
      // Also after an abort.
      await this.#undo(attachment, error as Error);
      throw error;
    }
  }

  /** Throws CniError if the container's network is not as expected. */
  async check(attachment: Attachment, signal: AbortSignal): Promise<void> {
    const { name: network, plugins, disableCheck } = this.#options.configuration;
    const kept = await this.#attachments.find({ network, ...attachment });
    if (kept?.result === undefined)
      throw new CniError(GENERIC, `${attachment.containerId} is not attached to "${network}" by ${attachment.ifName}`);
    if (disableCheck) return;
    for (const plugin of plugins) await this.#call("CHECK", plugin, attachment, kept.result, signal);
  }

  async detach(attachment: Attachment, signal: AbortSignal): Promise<void> {
    const { name: network, plugins } = this.#options.configuration;
    const kept = await this.#attachments.find({ network, ...attachment });
    const whole = { ...kept, ...attachment };
    for (const plugin of plugins.toReversed()) await this.#call("DEL", plugin, whole, kept?.result, signal);
    await this.#attachments.forget({ network, ...attachment });
  }

  /** Detaches containers that are gone, and returns them. */
  async collect(alive: ReadonlySet<string>, signal: AbortSignal): Promise<readonly KeptAttachment[]> {
    const { name } = this.#options.configuration;
    const kept = await this.#attachments.all();
    const lost = kept.filter(({ network, containerId }) => network === name && !alive.has(containerId));
    for (const attachment of lost) await this.detach({ ...attachment, netns: "" }, signal);
    return lost;
  }

  async #undo(attachment: Attachment, failure: Error): Promise<void> {
    const end = new AbortController();
    const timer = this.#options.clock.timer(UNDO_MS, () => end.abort());
    try {
      await this.detach(attachment, end.signal);
    } catch (error) {
      throw new AggregateError([failure, error], `${failure.message}; and it could not be undone`);
    } finally {
      timer.cancel();
    }
  }

  async #call(
    command: Command,
    { type, settings, capabilities }: PluginConfiguration,
    attachment: Attachment,
    before: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<JsonObject | undefined> {
    const { cniVersion, name } = this.#options.configuration;
    const accepted = Object.entries(attachment.runtimeConfig ?? {}).filter(([capability]) =>
      capabilities.has(capability),
    );
    const input: Record<string, Json> = { ...settings, cniVersion, name };
    if (accepted.length > 0) input.runtimeConfig = Object.fromEntries(accepted);
    if (before !== undefined) input.prevResult = before;
    return callPlugin(this.#options, { command, type, attachment, input }, signal);
  }
}
