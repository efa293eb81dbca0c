/** Finalizers of custom objects may have any name; who adds one that others could add too is told so. */
import { goQuote } from "../machinery/json/go-text.ts";
import { checkQualifiedName } from "../machinery/names/names.ts";
import type { KubeObject } from "../machinery/schema/object.ts";

const standard = new Set(["orphan", "foregroundDeletion", "kubernetes"]);

export function finalizerWarnings(object: KubeObject, old: KubeObject | undefined): readonly string[] {
  const before = new Set(old?.metadata.finalizers ?? []);
  const added = new Set((object.metadata.finalizers ?? []).filter((name) => !before.has(name)));
  return [...added].sort().flatMap(warningsOf);
}

function warningsOf(name: string): readonly string[] {
  const faults = [...checkQualifiedName(name)];
  if (!name.includes("/") && !standard.has(name)) {
    const how = name.includes(".") ? " including a path (/)" : "";
    faults.push(
      `prefer a domain-qualified finalizer name${how} to avoid accidental conflicts with other finalizer writers`,
    );
  }
  return faults.map((fault) => `metadata.finalizers: ${goQuote(name)}: ${fault}`);
}
