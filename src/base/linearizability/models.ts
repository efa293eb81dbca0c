/** What operations mean, for the linearizability checker: a register, one with versions, and a set. */

import type { Model } from "./judge.ts";

export type RegisterInput =
  | { readonly kind: "read" }
  | { readonly kind: "write"; readonly value: string }
  /** Undefined: absent. */
  | { readonly kind: "swap"; readonly from: string | undefined; readonly to: string | undefined };

export type RegisterOutput =
  | { readonly kind: "value"; readonly value: string | undefined }
  | { readonly kind: "done" }
  | { readonly kind: "refused" };

/** One value, or none, that is read, written, and compared and swapped. */
export const REGISTER: Model<string | undefined, RegisterInput, RegisterOutput> = {
  // A model's state cannot be undefined; absent is the empty text.
  initial: "",
  text: (state) => state ?? "",
  step(state, input, output) {
    switch (input.kind) {
      case "read":
        if (output === undefined) return state;
        return output.kind === "value" && (output.value ?? "") === state ? state : undefined;
      case "write":
        return output === undefined || output.kind === "done" ? input.value : undefined;
      case "swap": {
        const isMatch = (input.from ?? "") === state;
        if (output === undefined) return isMatch ? (input.to ?? "") : state;
        if (output.kind === "done") return isMatch ? (input.to ?? "") : undefined;
        return output.kind === "refused" && !isMatch ? state : undefined;
      }
    }
  },
};

export interface VersionedInput {
  readonly kind: "read" | "write";
}

/**
 * A register whose writes raise its version: a read answers with the version that it saw, a write with the one that it
 * made. Versions between two that were seen are those of writes that nobody recorded.
 */
export const VERSIONED: Model<number, VersionedInput, number> = {
  initial: 0,
  text: String,
  step(state, { kind }, version) {
    if (version === undefined) return state;
    return (kind === "read" ? version >= state : version > state) ? version : undefined;
  },
};

export type SetInput =
  | { readonly kind: "add"; readonly item: string }
  | { readonly kind: "remove"; readonly item: string }
  | { readonly kind: "list" };

export type SetOutput =
  | { readonly kind: "items"; readonly items: readonly string[] }
  | { readonly kind: "changed" }
  /** It was there already, or not there. */
  | { readonly kind: "unchanged" };

/** Items that are added once, removed, and listed all at once. The state is their sorted texts. */
export const SET: Model<readonly string[], SetInput, SetOutput> = {
  initial: [],
  text: (state) => state.join("\n"),
  step(state, input, output) {
    if (input.kind === "list") {
      if (output === undefined) return state;
      if (output.kind !== "items" || output.items.length !== state.length) return undefined;
      return output.items.toSorted().every((item, i) => item === state[i]) ? state : undefined;
    }
    const isThere = state.includes(input.item);
    const changes = input.kind === "add" ? !isThere : isThere;
    if (output !== undefined && output.kind !== (changes ? "changed" : "unchanged")) return undefined;
    if (!changes) return state;
    return input.kind === "add" ? [...state, input.item].sort() : state.filter((item) => item !== input.item);
  },
};
