/**
 * Every way to change an object that exists: update, the four patches, the status and other subresources.
 *
 *     current ──► the steps of `order.ts` ══► store
 *        ▲                                     │
 *        └──────── another writer was first ◄──┘
 *
 * A change that names a resourceVersion fails with 409 if that is not the current one. One that names none is tried
 * again on the new state.
 */
import { conflict, type KubeObject, notFound } from "#api";
import type { Maybe } from "#base";
import { fresh } from "../read/fresh.ts";
import type { RestRequest, Written } from "../rest-request.ts";
import { createFrom } from "./create.ts";
import { writeSteps } from "./order.ts";
import { newWrite, type Proposal, run } from "./write.ts";

const MAX_TRIES = 10;

export interface ChangeOptions {
  readonly dryRun: boolean;
  /** Called again for each try. `current` is undefined where a write may create. */
  propose(current: KubeObject | undefined): Maybe<Proposal>;
  /** An object that does not exist is created. */
  readonly mayCreate?: boolean | undefined;
  /** Throws where it must not be created, before it is asked who may. */
  beforeCreate?(): void;
}

export async function change(request: RestRequest, options: ChangeOptions): Promise<Written> {
  const { dryRun, propose, mayCreate } = options;
  const { context, resource, namespace, name } = request;
  // An object is not found, in conflict or unchanged only if it is so in the store: a cache may lag behind the writes
  // of another server.
  await fresh(context);
  let current = await resource.get(resource.suffix(namespace, name));
  for (let tries = 1; ; tries++) {
    if (current === undefined) {
      if (mayCreate !== true) throw notFound(resource.groupResource, name);
      options.beforeCreate?.();
      await context.access.mayCreate(request);
      return createFrom(request, () => propose(undefined), dryRun);
    }
    const old = resource.read(current);
    const write = newWrite(request, { dryRun, propose: () => propose(old) }, current, old);
    const outcome = await run(write, writeSteps[write.mode]);
    if (outcome.ok) return { created: false, stored: outcome.stored };
    if (tries === MAX_TRIES) throw conflict(resource.groupResource, name);
    current = outcome.current;
  }
}
