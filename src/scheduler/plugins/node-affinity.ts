/** NodeAffinity: `nodeSelector`, node affinity, and `addedAffinity` of the configuration. */
import type { core } from "#api";
import {
  definePlugin,
  type NodeAsk,
  PASS,
  type PluginFactory,
  type Prepared,
  ready,
  rejected,
  rejectionsOf,
  SKIP,
} from "../framework/index.ts";
import { type NodeMatcher, requiredMatcher, selectedNode, selectorMatcher, termMatcher } from "./node-selectors.ts";
import { normalizeByHighest } from "./normalize.ts";

const NAME = "NodeAffinity";
const rejections = rejectionsOf(NAME);
const NOT_MATCHED = rejections.unresolvable("node(s) didn't match Pod's node affinity/selector");
const NOT_ENFORCED = rejections.unresolvable("node(s) didn't match scheduler-enforced node affinity");
const CONFLICT = rejections.unresolvable("pod affinity terms conflict");
const NODE_NAME = "metadata.name";

type Preferences = readonly { readonly weight: number; readonly matches: NodeMatcher }[];

export const nodeAffinity: PluginFactory = {
  name: NAME,
  make({ NodeAffinity: { addedAffinity } }) {
    const added = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    const isEnforced = added && selectorMatcher(added);
    const addedPreferences = preferencesOf(addedAffinity);
    return definePlugin<NodeMatcher | undefined, Preferences>({
      name: NAME,
      wakes: [
        {
          resource: "Node",
          actions: ["add", "labels"],
          hint: ({ ask }, event) => {
            const [before, after] = [event.old, event.new] as [core.Node | undefined, core.Node | undefined];
            const fits = (node: core.Node) => {
              const selected = selectedNode(node);
              return isEnforced?.(selected) !== false && requiredMatcher(ask)?.(selected) !== false;
            };
            if (after === undefined || !fits(after)) return "skip";
            return before !== undefined && fits(before) ? "skip" : "queue";
          },
        },
      ],
      filter: {
        reads: "node",
        prepare: (ask) => prepared(ask, isEnforced !== undefined),
        check(matches, node) {
          if (isEnforced?.(node) === false) return NOT_ENFORCED;
          return matches?.(node) === false ? NOT_MATCHED : PASS;
        },
      },
      score: {
        reads: "node",
        prepare({ nodeAffinity }) {
          const preferences = [...addedPreferences, ...preferencesOf(nodeAffinity)];
          return preferences.length === 0 ? SKIP : ready(preferences);
        },
        of(preferences, node) {
          let sum = 0;
          for (const { weight, matches } of preferences) if (matches(node)) sum += weight;
          return sum;
        },
        normalize: (scores, nodes) => normalizeByHighest(scores, nodes),
      },
    });
  },
};

function prepared(ask: NodeAsk, isEnforced: boolean): Prepared<NodeMatcher | undefined> {
  const matches = requiredMatcher(ask);
  if (matches === undefined && !isEnforced) return SKIP;
  const names = namesOf(ask.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution);
  if (names?.size === 0) return rejected(CONFLICT);
  return ready(matches, names);
}

/** The names of the only nodes that can match, if every term names some. */
function namesOf(required: core.NodeSelector | undefined): ReadonlySet<string> | undefined {
  let names: Set<string> | undefined;
  for (const { matchFields = [] } of required?.nodeSelectorTerms ?? []) {
    let own: Set<string> | undefined;
    for (const { key, operator, values = [] } of matchFields) {
      if (key !== NODE_NAME || operator !== "In") continue;
      own = own === undefined ? new Set(values) : own.intersection(new Set(values));
    }
    if (own === undefined) return undefined;
    names = names === undefined ? own : names.union(own);
  }
  return names;
}

/** Preferences with an empty term or zero weight are ignored. */
function preferencesOf(affinity: core.NodeAffinity | undefined): Preferences {
  return (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
    .filter(({ weight, preference }) => weight !== 0 && !isEmpty(preference))
    .map(({ weight, preference }) => ({ weight, matches: termMatcher(preference) }));
}

function isEmpty({ matchExpressions = [], matchFields = [] }: core.NodeSelectorTerm): boolean {
  return matchExpressions.length + matchFields.length === 0;
}
