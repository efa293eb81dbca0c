/**
 * Which webhooks, or policies, are asked again in the second round: those that want to, and after which something has changed.
 *
 *     first round     a asks to be asked again ──► b changes the object ──► a is to be asked again
 *     second round    plugins of the server ──► the object is another than the first round left ──► all that want to are asked again
 */
import { equalJson, type Json, type KubeObject } from "#api";
import type { Rounds } from "./rounds.ts";

export class Reinvocation {
  readonly #again = new Set<string>();
  #invoked = new Set<string>();
  #left: Json | undefined;

  begin(rounds: Rounds, object: KubeObject | undefined): void {
    if (rounds.number === 1 && !equalJson(this.#left ?? null, asJson(object))) this.#requireAll();
  }

  /** In the second round only who is to be asked again: nobody is asked for the first time then. */
  mayInvoke(rounds: Rounds, id: string): boolean {
    return rounds.number === 0 || this.#again.has(id);
  }

  /** The object is another now: those before have not seen it. */
  changed(rounds: Rounds): void {
    this.#requireAll();
    rounds.again();
  }

  /** Who wants to be asked again has been asked. */
  invoked(id: string): void {
    this.#invoked.add(id);
  }

  end(object: KubeObject | undefined): void {
    this.#left = structuredClone(asJson(object));
  }

  #requireAll(): void {
    for (const id of this.#invoked) this.#again.add(id);
    this.#invoked = new Set();
  }
}

function asJson(object: KubeObject | undefined): Json {
  return (object ?? null) as unknown as Json;
}
