/**
 * Why no volume is made for a claim: nobody makes them, the driver is gone, no place for it, or what the driver said.
 *
 * 1. What the provisioner said last goes first; without its words, what it needs is looked at.
 */
import { compareQuantities, migratedDriver, parseQuantity, type storage } from "#api";
import type { Reason, WhyAnswer } from "./answer.ts";
import { lastEvent } from "./claim-events.ts";
import type { ClaimFacts } from "./claim-facts.ts";

type Part = Omit<WhyAnswer, "what">;
type WithClass = ClaimFacts & { readonly storageClass: storage.StorageClass };

const NO_PROVISIONER = "kubernetes.io/no-provisioner";
const SELECTED_NODE = "volume.kubernetes.io/selected-node";

export function whyNotProvisioned(facts: WithClass): Part {
  const { storageClass, events, claim } = facts;
  const { provisioner } = storageClass;
  if (provisioner === NO_PROVISIONER)
    return {
      because: [
        { text: "its class makes no volumes", evidence: `provisioner ${NO_PROVISIONER}` },
        { text: "no free PersistentVolume of this class fits", evidence: "PersistentVolumes" },
      ],
      help: ["create a PersistentVolume of this class that fits: size, access modes, selector, node affinity"],
    };
  const failed = lastEvent(events, "ProvisioningFailed");
  const node = claim.metadata.annotations?.[SELECTED_NODE];
  const because: Reason[] = [];
  if (node !== undefined) because.push({ text: `it is to be made for node ${node}`, evidence: SELECTED_NODE });
  const driver = migratedDriver(provisioner) ?? provisioner;
  const missing = missingDriver(facts, driver, node) ?? noPlace(facts, driver) ?? noRoom(facts);
  because.push(...failed, ...(missing?.because ?? []));
  if (because.length === 0 || (failed.length === 0 && missing === undefined))
    because.push(...(lastEvent(events, "Provisioning", "ExternalProvisioning").slice(0, 1) satisfies Reason[]), {
      text: `its provisioner ${driver} has not answered yet`,
      evidence: "no event ProvisioningFailed or ProvisioningSucceeded",
    });
  const help = missing?.help ?? [
    failed.length > 0
      ? "these are the words of the driver; it tries again by itself"
      : `look at the provisioner of ${driver}: whether it runs, and its log`,
  ];
  return { because, help };
}

function missingDriver({ driver: known, csiNodes = [] }: ClaimFacts, driver: string, node?: string): Part | undefined {
  const with_ = csiNodes.filter(({ spec }) => spec.drivers.some(({ name }) => name === driver));
  if (known === undefined && with_.length === 0)
    return {
      because: [{ text: `there is no driver ${driver} in this cluster`, evidence: "CSIDrivers and CSINodes" }],
      help: ["install this driver, or use another class: `kubectl get storageclass`"],
    };
  if (with_.length === 0)
    return {
      because: [{ text: `no node runs the driver ${driver}`, evidence: "CSINodes" }],
      help: ["its node plugin must run and register: `kubectl get csinodes`, and its DaemonSet"],
    };
  if (node !== undefined && !with_.some(({ metadata }) => metadata.name === node))
    return {
      because: [{ text: `node ${node} does not run the driver ${driver}`, evidence: `csinode/${node}` }],
      help: ["the driver's node plugin must run on this node, or the Pod must go to another one"],
    };
  return undefined;
}

/** No node is where volumes of the class may be. */
function noPlace({ storageClass, csiNodes = [], nodes = [] }: ClaimFacts, driver: string): Part | undefined {
  const terms = storageClass?.allowedTopologies ?? [];
  const keys = csiNodes.flatMap(
    ({ metadata, spec }) =>
      spec.drivers.find(({ name }) => name === driver)?.topologyKeys?.map((key) => [metadata.name, key] as const) ?? [],
  );
  const labelsOf = (name: string | undefined) =>
    nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels ?? {};
  if (terms.length > 0) {
    const fits = nodes.some(({ metadata: { labels = {} } }) =>
      terms.some(({ matchLabelExpressions = [] }) =>
        matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? "")),
      ),
    );
    if (!fits)
      return {
        because: [
          {
            text: `no node is in the topology that the class allows (${termsText(terms)})`,
            evidence: "allowedTopologies",
          },
        ],
        help: ["label nodes, or use a class for the zones of this cluster"],
      };
  }
  const without = keys.find(([node, key]) => labelsOf(node)[key] === undefined);
  if (without === undefined || keys.some(([node, key]) => labelsOf(node)[key] !== undefined)) return undefined;
  const [node, key] = without;
  return {
    because: [
      { text: `nodes lack the topology label ${key} of the driver`, evidence: `csinode/${node}, node/${node}` },
    ],
    help: ["the driver's registration gives nodes this label: restart its node plugin"],
  };
}

function termsText(terms: readonly NonNullable<storage.StorageClass["allowedTopologies"]>[number][]): string {
  return terms
    .flatMap(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.map(({ key, values }) => `${key} in ${values.join("|")}`),
    )
    .join("; ");
}

/** Capacity counts only if the driver reports it. */
function noRoom({ driver, capacities = [], claim }: ClaimFacts): Part | undefined {
  if (driver?.spec.storageCapacity !== true) return undefined;
  const wanted = claim.spec?.resources?.requests?.storage ?? "0";
  const isEnough = ({ capacity = "0", maximumVolumeSize }: storage.CSIStorageCapacity) =>
    compareQuantities(parseQuantity(maximumVolumeSize ?? capacity), parseQuantity(wanted)) >= 0;
  if (capacities.some(isEnough)) return undefined;
  const largest = capacities
    .map(({ capacity = "0" }) => capacity)
    .sort((a, b) => compareQuantities(parseQuantity(b), parseQuantity(a)))[0];
  const has =
    largest === undefined ? "the driver reports no capacity for its class" : `the largest free place has ${largest}`;
  return {
    because: [{ text: `it wants ${wanted}, and ${has}`, evidence: "CSIStorageCapacities" }],
    help: ["ask for less, or free or add storage: `kubectl get csistoragecapacities -A`"],
  };
}
