/**
 * The modes that are in force, and their replacement while requests go on.
 *
 *     modes ──► chain ──► authorize
 *       ▲
 *       └── replace: the configuration file has changed
 *
 * 1. A request is decided by the modes with which it began; replaced webhooks answer it still, then close.
 * 2. Modes that work on the server's state are made once, at the start. As upstream, a replacement names all modes of
 *    the start except webhooks, in any order, and adds none that has state.
 * 3. A replacement that is refused changes nothing.
 */
import type { UserInfo } from "../identity/user.ts";
import type { Authorizer } from "./authorizer.ts";
import { allRules, chain, type Decided } from "./chain.ts";
import type { ModeSpec, WebhookSpec } from "./config.ts";
import { AuthorizationConfigError } from "./config-error.ts";
import type { Mode, ModeName, Rules } from "./mode.ts";

/** A webhook's mode, with the connections that it holds. */
export interface WebhookMode {
  readonly mode: Mode;
  /** Closes the connections once no request is under way. */
  retire(): void;
}

export interface ModeMakers {
  /** Of a mode that is made once. */
  readonly lasting: (spec: Exclude<ModeSpec, WebhookSpec>) => Mode;
  readonly webhook: (spec: WebhookSpec) => WebhookMode;
}

const STATELESS: readonly ModeName[] = ["AlwaysAllow", "AlwaysDeny"];

export class CurrentModes {
  readonly #make: ModeMakers;
  readonly #decided: Decided;
  readonly #required: ReadonlySet<ModeName>;
  readonly #lasting = new Map<ModeName, Mode>();
  #modes: readonly Mode[] = [];
  #webhooks: readonly WebhookMode[] = [];
  #authorize: Authorizer = chain([]);

  constructor(specs: readonly ModeSpec[], make: ModeMakers, decided: Decided) {
    this.#make = make;
    this.#decided = decided;
    this.#required = new Set(specs.map(({ type }) => type).filter((type) => type !== "Webhook"));
    this.#use(specs);
  }

  readonly authorize: Authorizer = (attributes) => this.#authorize(attributes);

  rulesFor(user: UserInfo, namespace: string): Rules {
    return allRules(this.#modes, user, namespace);
  }

  /** Throws AuthorizationConfigError if it is refused. */
  replace(specs: readonly ModeSpec[]): void {
    const types = new Set(specs.map(({ type }) => type));
    const missing = [...this.#required].filter((type) => !types.has(type)).sort();
    if (missing.length > 0) throw new AuthorizationConfigError(`missing required types: [${missing.join(" ")}]`);
    for (const type of types) {
      if (type === "Webhook" || STATELESS.includes(type) || this.#required.has(type)) continue;
      throw new AuthorizationConfigError(
        `authorizer type ${type} is not allowed if it was not enabled at initial server startup`,
      );
    }
    const replaced = this.#webhooks;
    this.#use(specs);
    for (const webhook of replaced) webhook.retire();
  }

  #use(specs: readonly ModeSpec[]): void {
    const webhooks: WebhookMode[] = [];
    const modes = specs.map((spec) => {
      if (spec.type !== "Webhook") return this.#lastingMode(spec);
      const made = this.#make.webhook(spec);
      webhooks.push(made);
      return made.mode;
    });
    this.#authorize = chain(modes, this.#decided);
    this.#modes = modes;
    this.#webhooks = webhooks;
  }

  #lastingMode(spec: Exclude<ModeSpec, WebhookSpec>): Mode {
    const known = this.#lasting.get(spec.type) ?? this.#make.lasting(spec);
    this.#lasting.set(spec.type, known);
    return known;
  }
}
