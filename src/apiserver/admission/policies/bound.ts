/**
 * The policies that apply to one request, each with a binding and a parameter, or with the reason why it cannot be
 * used.
 *
 *     policy: matches? ──► paramKind served? ──► each binding: matches? ──► each of its parameters ──► application
 */
import { isStatusError, type KubeObject, StatusError } from "#api";
import type { AdmissionAttributes } from "../../rest/server-context.ts";
import type { ClusterView } from "../chain/plugin.ts";
import { namespaceOf, type Target } from "../dynamic/index.ts";
import type { Denial } from "./denial.ts";
import { ConfigurationError, type Params } from "./params.ts";
import { type AnyBinding, type Concerned, meant } from "./policy-set.ts";

export type Application<C> = Usable<C> | { readonly usable: false; readonly denial: Denial };

export interface Usable<C> {
  readonly usable: true;
  readonly concerned: Concerned<C>;
  /** The version of the object that the policy is for. */
  readonly target: Target;
  readonly binding: AnyBinding;
  readonly params: KubeObject | undefined;
}

export async function* applications<C>(
  all: readonly Concerned<C>[],
  attributes: AdmissionAttributes,
  cluster: ClusterView,
  params: Params,
): AsyncGenerator<Application<C>, void, undefined> {
  for (const concerned of all) {
    const { policy } = concerned;
    const unusable = (error: unknown, binding?: AnyBinding) => configurationFault(error, concerned, binding);
    let target: Target | undefined;
    try {
      target = await meant(concerned.scope, attributes, cluster);
      if (target === undefined) continue;
      if (policy.spec?.paramKind !== undefined) params.resourceOf(policy.spec.paramKind);
    } catch (error) {
      yield* unusable(error);
      continue;
    }
    for (const { binding, scope } of concerned.bindings) {
      try {
        if ((await meant(scope, attributes, cluster)) === undefined) continue;
        const { paramRef } = binding.spec ?? {};
        const found = await params.collect(policy.spec?.paramKind, paramRef, namespaceOf(attributes));
        for (const each of found) yield { usable: true, concerned, target, binding, params: each };
      } catch (error) {
        yield* unusable(error, binding);
      }
    }
  }
}

/**
 * The object cannot be converted to the version that the policy matches. Undefined: the request passes without the
 * policy.
 */
export function unconverted<C>({ concerned: { policy }, binding }: Usable<C>, error: unknown): Denial | undefined {
  if (!(error instanceof StatusError)) throw error;
  if (policy.spec?.failurePolicy === "Ignore") return undefined;
  const message = `failed to configure binding: failed to convert object version: ${error.message}`;
  return { policy, binding, message, reason: "" };
}

/** Undefined if the failure policy ignores it. Errors other than of the configuration are thrown. */
function* configurationFault<C>(
  error: unknown,
  { policy }: Concerned<C>,
  binding: AnyBinding | undefined,
): Generator<Application<C>, void, undefined> {
  if (!(error instanceof ConfigurationError) && !isStatusError(error)) throw error;
  if (policy.spec?.failurePolicy === "Ignore") return;
  const what = binding === undefined ? "policy" : "binding";
  yield {
    usable: false,
    denial: { policy, binding, message: `failed to configure ${what}: ${error.message}`, reason: "" },
  };
}
