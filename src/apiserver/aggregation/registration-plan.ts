/**
 * What to do with an APIService that the server manages itself: pure.
 *
 *     there is             none is wanted   wanted on start   wanted always
 *     none                 leave            create once       create
 *     a user's own         leave            leave             leave
 *     one kept on start    delete once      update once       update once
 *     one kept always      delete           update once       update
 *
 * 1. One that is managed on start, but did not exist when this server started, is left to the server that made it.
 */
import { equalJson, type Json } from "#api";
import { type ApiService, type ApiServiceSpec, AUTOMANAGED } from "./api-service.ts";

/** When it is reconciled: once after a start of the server, or always. */
export type Keeping = "onstart" | "true";

export interface Wanted {
  readonly keeping: Keeping;
  readonly spec: ApiServiceSpec;
}

export interface Situation {
  readonly wanted: Wanted | undefined;
  readonly found: ApiService | undefined;
  /** It has been reconciled since the server started. */
  readonly wasSeenTo: boolean;
  /** It existed when the server started. */
  readonly wasThere: boolean;
}

export type Step = "create" | "update" | "delete" | "leave";

export function planRegistration({ wanted, found, wasSeenTo, wasThere }: Situation): Step {
  if (wanted?.keeping === "onstart" && wasSeenTo) return "leave";
  if (found === undefined) return wanted === undefined ? "leave" : "create";
  const keeping = found.metadata.labels?.[AUTOMANAGED];
  if (keeping !== "onstart" && keeping !== "true") return "leave";
  if (keeping === "onstart" && (!wasThere || wasSeenTo)) return "leave";
  if (wanted === undefined) return "delete";
  return isSame(found.spec, wanted.spec) ? "leave" : "update";
}

function isSame(a: ApiServiceSpec | undefined, b: ApiServiceSpec): boolean {
  return equalJson((a ?? null) as unknown as Json, b as unknown as Json);
}
