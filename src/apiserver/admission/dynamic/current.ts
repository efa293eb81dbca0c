/** The object of a request while webhooks or policies change it, in the version that the last of them needed. */
import type { KubeObject } from "#api";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import { rewrite } from "./rewrite.ts";
import { type Target, targetOf } from "./target.ts";
import { converted, type Versioned } from "./versions.ts";

export class Current {
  readonly #attributes: AdmissionAttributes;
  readonly #own: Target;
  #state: Versioned;
  #dirty = false;

  constructor(attributes: AdmissionAttributes) {
    this.#attributes = attributes;
    this.#own = targetOf(attributes);
    this.#state = { target: this.#own, object: attributes.object, old: attributes.old };
  }

  get object(): KubeObject | undefined {
    return this.#state.object;
  }

  /** The request with the object as it is now. */
  get attributes(): AdmissionAttributes {
    const { object } = this.#state;
    return object === undefined || object === this.#attributes.object
      ? this.#attributes
      : { ...this.#attributes, object };
  }

  async in(target: Target): Promise<Versioned> {
    const { target: from, object } = this.#state;
    if (from.resource === target.resource) return this.#state;
    const { old } = this.#attributes;
    this.#state = {
      target,
      object: object && (await converted(object, from, target)),
      old: old && (await converted(old, this.#own, target)),
    };
    return this.#state;
  }

  /** `object` is in the version of the last call of `in`. */
  set(object: KubeObject): void {
    this.#state = { ...this.#state, object };
    this.#dirty = true;
  }

  /** Writes the result back to the request's object. */
  async settle(): Promise<void> {
    if (!this.#dirty) return;
    const { object } = await this.in(this.#own);
    if (object !== undefined) rewrite(this.#attributes, object);
  }
}
