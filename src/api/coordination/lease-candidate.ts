/** LeaseCandidate: a component that may lead, and the versions that a coordinated election compares. */
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { requireText, unchanged } from "../definition/field-checks.ts";
import { type FieldError, type FieldPath, invalid, notSupported, required } from "../machinery/errors/field-error.ts";
import { checkConfigMapKey, checkQualifiedName } from "../machinery/names/names.ts";
import type { LeaseCandidate as LeaseCandidateObject, LeaseCandidateSpec } from "../types/coordination-v1beta1.ts";
import { compareSemanticVersions, parseSemanticVersion } from "./semantic-version.ts";

const oldestVersion = "OldestEmulationVersion";
const spec = "io.k8s.api.coordination.v1beta1.LeaseCandidateSpec";

export const LeaseCandidate = defineKind<LeaseCandidateObject>("coordination.k8s.io/v1beta1", "LeaseCandidate", {
  validateName: (name) => checkConfigMapKey(name),
  validate: (candidate, at) => validateSpec(candidate.spec, at.child("spec")),
  update: {
    validate: (next, old, at) => unchanged(next.spec?.leaseName, old.spec?.leaseName, at.child("spec", "leaseName")),
    allowCreate: true,
    allowUnconditional: false,
  },
  columns: [
    { name: "LeaseName", type: "string", doc: `${spec}.leaseName`, cell: ({ spec }) => spec?.leaseName ?? "" },
    {
      name: "BinaryVersion",
      type: "string",
      doc: `${spec}.binaryVersion`,
      cell: ({ spec }) => spec?.binaryVersion ?? "",
    },
    {
      name: "EmulationVersion",
      type: "string",
      doc: `${spec}.emulationVersion`,
      cell: ({ spec }) => spec?.emulationVersion ?? "",
    },
    ageColumn,
  ],
});

/** The schema requires a spec, but a client may leave it out. */
function validateSpec(sent: LeaseCandidateSpec | undefined, at: FieldPath): readonly FieldError[] {
  const { leaseName = "", binaryVersion = "", emulationVersion = "", strategy = "" } = sent ?? {};
  const binary = parseSemanticVersion(binaryVersion);
  const emulated = parseSemanticVersion(emulationVersion);
  const errors = [...requireText(leaseName, at.child("leaseName"))];
  if (emulationVersion !== "" && emulated === undefined)
    errors.push(invalid(at.child("emulationVersion"), emulationVersion, "must be a valid semantic version"));
  if (binaryVersion !== "" && binary === undefined)
    errors.push(invalid(at.child("binaryVersion"), binaryVersion, "must be a valid semantic version"));
  if (binaryVersion !== "" && emulationVersion !== "" && compareSemanticVersions(binary, emulated) < 0) {
    const why = "must be greater than or equal to `emulationVersion`";
    errors.push(invalid(at.child("binaryVersion"), binaryVersion, why));
  }
  if (strategy === "") return [...errors, required(at.child("strategy"))];
  if (strategy === oldestVersion && compareSemanticVersions(emulated, undefined) === 0) {
    const why = `must be specified when \`strategy\` is '${oldestVersion}'`;
    errors.push(required(at.child("emulationVersion"), why));
  }
  // Kubernetes repeats the name of the field in the path.
  return [...errors, ...validateStrategy(strategy, at.child("strategy", "strategy"))];
}

/** A name of Kubernetes, or one with a domain. */
function validateStrategy(strategy: string, at: FieldPath): readonly FieldError[] {
  if (!strategy.includes("/")) return strategy === oldestVersion ? [] : [notSupported(at, strategy, [oldestVersion])];
  return checkQualifiedName(strategy).map((why) => invalid(at, strategy, why));
}
