/**
 * The CEL environment of each place where expressions stand, for a server of version 1.36 with its default feature
 * gates.
 *
 *     const base = baseEnvironment();            // once
 *     validationRules(base, typeOfSchema)        // cheap: for each schema that has rules
 *     admission(base, { params: true })
 *
 * 1. Nothing is declared that Kubernetes does not declare: an expression that is accepted here must be accepted there.
 * 2. The base environment keeps compiled patterns for all environments that are derived from it.
 */

import type { Library } from "../functions/function.ts";
import { celEnvironment, type Environment } from "../program/environment.ts";
import { bindings } from "../standard/bindings.ts";
import { optionalTypes } from "../standard/optional-types.ts";
import { twoVariableComprehensions } from "../standard/two-variable-comprehensions.ts";
import { dyn, type Field, object, optional, type Type } from "../values/type.ts";
import { admissionRequestType, namespaceType } from "./admission-types.ts";
import { authorizerType, authz, authzSelectors, resourceCheckType } from "./authz.ts";
import { listExtensions } from "./collections/list-extensions.ts";
import { lists } from "./collections/lists.ts";
import { sets } from "./collections/sets.ts";
import { deviceType } from "./device.ts";
import { jsonPatch } from "./jsonpatch.ts";
import { cidr } from "./network/cidr.ts";
import { ip } from "./network/ip.ts";
import { urls } from "./network/urls.ts";
import { objectTypes } from "./object-types.ts";
import { quantity } from "./quantity.ts";
import { semver } from "./semver.ts";
import { format } from "./text/format.ts";
import { regex } from "./text/regex.ts";
import { strings } from "./text/strings.ts";

export const celLimits = {
  /** For one evaluation of one expression. */
  perCall: 1_000_000,
  /** For all rules of one object, or all expressions of one policy, together. */
  perObject: 10_000_000,
  /** For all match conditions of one webhook or policy, together. */
  matchConditions: 2_500_000,
  /** Estimated, for one rule of a CustomResourceDefinition, and for all of them together. */
  estimatedRule: 10_000_000,
  estimatedDefinition: 100_000_000,
  /** Bytes of the result of a messageExpression. */
  messageBytes: 5 * 1024,
  /** Bytes of the largest request: values without a limit are at most this long. */
  requestBytes: 3 * 1024 * 1024,
  deviceSelector: 1_000_000,
  deviceSelectorLength: 10 * 1024,
} as const;

/** What all places share. */
export function baseLibraries(): readonly Library[] {
  return [
    urls,
    regex(),
    lists,
    authz,
    quantity,
    strings,
    sets,
    ip,
    cidr,
    format,
    authzSelectors,
    semver,
    listExtensions,
    optionalTypes,
    twoVariableComprehensions,
  ];
}

export function baseEnvironment(): Environment {
  return celEnvironment({ libraries: baseLibraries() });
}

/** Rules of a CustomResourceDefinition: `self` and `oldSelf`, an optional for rules with optionalOldSelf. */
export function validationRules(base: Environment, self: Type, { optionalOldSelf = false } = {}): Environment {
  return base.extend({ variables: { self, oldSelf: optionalOldSelf ? optional(self) : self } });
}

export interface AdmissionOptions {
  /** Whether the policy has a paramKind. Match conditions of webhooks have none. */
  readonly params?: boolean;
  readonly authorizer?: boolean;
  /** For expressions of a mutating policy that construct patches. */
  readonly patches?: boolean;
  /** The variables that a policy composes. Without them there is no `variables`. Looked up, not copied. */
  readonly variables?: ReadonlyMap<string, Field> | undefined;
}

/** Policies and match conditions. */
export function admission(
  base: Environment,
  { params = false, authorizer = true, patches = false, variables }: AdmissionOptions = {},
): Environment {
  return base.extend({
    libraries: patches ? [jsonPatch, objectTypes] : [],
    variables: {
      object: dyn,
      oldObject: dyn,
      namespaceObject: namespaceType,
      request: admissionRequestType,
      ...(variables !== undefined && { variables: object("kubernetes.variables", variables) }),
      ...(params && { params: dyn }),
      ...(authorizer && { authorizer: authorizerType, "authorizer.requestResource": resourceCheckType }),
    },
  });
}

/** Device selectors; `deviceValue` makes the value of their variable. */
export function deviceSelectors(base: Environment): Environment {
  return base.extend({ libraries: [bindings], variables: { device: deviceType } });
}
