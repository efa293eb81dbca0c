/**
 * Which of the names that a definition asks for it gets: in one group, a name belongs to the first definition that was given it.
 *
 * 1. What a definition has been given it keeps, until it asks for something else that is free.
 * 2. Plural, singular and short names share one space, kind and list kind another.
 * 3. Where several names are taken, the condition tells of the last one, as the original does.
 */
import { aggregate } from "../machinery/errors/field-error.ts";
import { goQuote } from "../machinery/json/go-text.ts";
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from "../types/apiextensions-v1.ts";
import type { ConditionFacts } from "./condition.ts";

export interface AcceptedNames {
  /** For status.acceptedNames. */
  readonly names: CustomResourceDefinitionNames;
  /** The condition NamesAccepted. */
  readonly condition: ConditionFacts;
}

/** `all`: every definition there is; those of other groups do not matter, and the definition itself may be among them. */
export function acceptNames(
  definition: CustomResourceDefinition,
  all: Iterable<CustomResourceDefinition>,
): AcceptedNames {
  const { resources, kinds } = takenNames(definition.spec.group, all);
  const asked = definition.spec.names;
  const had = definition.status?.acceptedNames ?? { plural: "", kind: "" };
  let conflict: Conflict | undefined;

  const one = (name: string, before: string, taken: ReadonlySet<string>, reason: string): string => {
    if (name === before || !taken.has(name)) return name;
    conflict = { reason, message: inUse(name) };
    return before;
  };
  const plural = one(asked.plural, had.plural, resources, "PluralConflict");
  const singular = one(asked.singular ?? "", had.singular ?? "", resources, "SingularConflict");
  const shorts = acceptShortNames(asked.shortNames ?? [], had.shortNames ?? [], resources);
  conflict = shorts.conflict ?? conflict;
  const kind = one(asked.kind, had.kind, kinds, "KindConflict");
  const listKind = one(asked.listKind ?? "", had.listKind ?? "", kinds, "ListKindConflict");

  const names: CustomResourceDefinitionNames = {
    plural,
    ...(singular !== "" && { singular }),
    ...(shorts.names.length > 0 && { shortNames: shorts.names }),
    kind,
    ...(listKind !== "" && { listKind }),
    ...((asked.categories ?? []).length > 0 && { categories: asked.categories ?? [] }),
  };
  return { names, condition: conditionOf(conflict) };
}

interface Conflict {
  readonly reason: string;
  readonly message: string;
}

function conditionOf(conflict: Conflict | undefined): ConditionFacts {
  if (conflict !== undefined) return { status: "False", ...conflict };
  return { status: "True", reason: "NoConflicts", message: "no conflicts found" };
}

function acceptShortNames(
  asked: readonly string[],
  had: readonly string[],
  taken: ReadonlySet<string>,
): { readonly names: readonly string[]; readonly conflict?: Conflict } {
  const refused = asked.filter((name) => !had.includes(name) && taken.has(name));
  if (refused.length === 0) return { names: asked };
  return { names: had, conflict: { reason: "ShortNamesConflict", message: aggregate(refused.map(inUse)) } };
}

function inUse(name: string): string {
  return `${goQuote(name)} is already in use`;
}

function takenNames(
  group: string,
  all: Iterable<CustomResourceDefinition>,
): { readonly resources: ReadonlySet<string>; readonly kinds: ReadonlySet<string> } {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { spec, status } of all) {
    if (spec.group !== group) continue;
    const { plural = "", singular = "", shortNames = [], kind = "", listKind = "" } = status?.acceptedNames ?? {};
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}
