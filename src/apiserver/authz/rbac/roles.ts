/**
 * Roles and ClusterRoles as bindings see them.
 *
 * 1. Bindings refer to a slot of a role, whether the role exists or not: a change of a role changes its slot and none
 *    of its bindings.
 * 2. The rules of a slot are compiled when they are first needed, and kept until a role that they depend on changes.
 * 3. An aggregated ClusterRole has the rules of all roles that its selectors match, and theirs, besides its own: at
 *    once, before the controller has written them.
 */
import { type KubeObject, type LabelMatcher, type Labels, matcherOfSelector, type rbac } from "#api";
import { RuleTable } from "./rule-table.ts";

export type RoleKind = "Role" | "ClusterRole";

interface Stored {
  readonly labels: Labels | undefined;
  readonly rules: readonly rbac.PolicyRule[];
  readonly selectors: readonly LabelMatcher[];
}

export interface RoleMeaning {
  readonly rules: readonly rbac.PolicyRule[];
  readonly table: RuleTable;
}

export class RoleSlot {
  readonly kind: RoleKind;
  /** Without its namespace. */
  readonly name: string;
  stored: Stored | undefined;
  meaning: RoleMeaning | undefined;
  bindings = 0;

  constructor(kind: RoleKind, name: string) {
    this.kind = kind;
    this.name = name;
  }
}

export class Roles {
  readonly #slots: Readonly<Record<RoleKind, Map<string, RoleSlot>>> = { Role: new Map(), ClusterRole: new Map() };
  readonly #aggregating = new Set<RoleSlot>();

  /** `key`: `namespace/name` of a Role, the name of a ClusterRole. */
  slot(kind: RoleKind, key: string): RoleSlot {
    let slot = this.#slots[kind].get(key);
    if (slot === undefined) {
      slot = new RoleSlot(kind, key.slice(key.indexOf("/") + 1));
      this.#slots[kind].set(key, slot);
    }
    return slot;
  }

  find(kind: RoleKind, key: string): RoleSlot | undefined {
    const slot = this.#slots[kind].get(key);
    return slot?.stored === undefined ? undefined : slot;
  }

  /** Undefined: there is no such role. */
  meaning(slot: RoleSlot): RoleMeaning | undefined {
    if (slot.stored === undefined) return undefined;
    if (slot.meaning === undefined) {
      const rules = slot.stored.selectors.length === 0 ? slot.stored.rules : this.#gathered(slot);
      slot.meaning = { rules, table: new RuleTable(rules) };
    }
    return slot.meaning;
  }

  set(kind: RoleKind, key: string, object: KubeObject): void {
    const { metadata, rules, aggregationRule } = object as rbac.ClusterRole;
    const selectors = kind === "Role" ? [] : (aggregationRule?.clusterRoleSelectors ?? []).map(matcherOfSelector);
    this.#change(kind, key, { labels: metadata.labels, rules: rules ?? [], selectors });
  }

  delete(kind: RoleKind, key: string): void {
    this.#change(kind, key, undefined);
    this.dropIfUnused(kind, key);
  }

  clear(kind: RoleKind): void {
    for (const key of [...this.#slots[kind].keys()]) this.delete(kind, key);
  }

  dropIfUnused(kind: RoleKind, key: string): void {
    const slot = this.#slots[kind].get(key);
    if (slot !== undefined && slot.stored === undefined && slot.bindings === 0) this.#slots[kind].delete(key);
  }

  #change(kind: RoleKind, key: string, stored: Stored | undefined): void {
    const slot = this.slot(kind, key);
    if (kind === "ClusterRole") this.#forgetGathered(slot, [slot.stored?.labels, stored?.labels]);
    slot.stored = stored;
    slot.meaning = undefined;
    if (stored !== undefined && stored.selectors.length > 0) this.#aggregating.add(slot);
    else this.#aggregating.delete(slot);
  }

  /** Discards the rules of this role, and of all roles that aggregate it. */
  #forgetGathered(changed: RoleSlot, labels: readonly (Labels | undefined)[]): void {
    const stale = new Set([changed]);
    const queue = [...labels];
    // The list grows during the loop.
    for (const next of queue) {
      for (const slot of this.#aggregating) {
        if (stale.has(slot) || !slot.stored?.selectors.some((selector) => selector.matches(next))) continue;
        stale.add(slot);
        slot.meaning = undefined;
        queue.push(slot.stored.labels);
      }
    }
  }

  #gathered(slot: RoleSlot): readonly rbac.PolicyRule[] {
    const parts = new Set([slot]);
    // The set grows during the loop: each aggregated role adds its own parts.
    for (const part of parts) {
      const selectors = part.stored?.selectors ?? [];
      if (selectors.length === 0) continue;
      for (const other of this.#slots.ClusterRole.values()) {
        if (other.stored !== undefined && selectors.some((selector) => selector.matches(other.stored?.labels)))
          parts.add(other);
      }
    }
    const rules = [...parts].flatMap((part) => part.stored?.rules ?? []);
    return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
  }
}
