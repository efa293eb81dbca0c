/**
 * The affinity terms of placed pods: for each distinct term, the number of its owners by node.
 *
 * 1. A term exists while a pod owns it.
 * 2. Which terms select pods of a label class is computed again only after a term was added or removed.
 */
import type { LabelClass, OwnedTerm, PodInfo, PodSelector, PodTerm, TermKind } from "../framework/index.ts";

const KINDS: readonly TermKind[] = ["required", "requiredAnti", "preferred"];

interface Owned extends OwnedTerm {
  readonly term: PodTerm;
  readonly weight: number;
  owners: Int32Array<ArrayBuffer>;
  total: number;
}

interface TermsOfKind {
  readonly terms: Map<string, Owned>;
  about: WeakMap<LabelClass, readonly Owned[]>;
}

export class OwnedTerms {
  readonly #kinds: Readonly<Record<TermKind, TermsOfKind>> = {
    required: empty(),
    requiredAnti: empty(),
    preferred: empty(),
  };
  readonly #matches: (select: PodSelector, labels: LabelClass) => boolean;
  #capacity: number;

  constructor(capacity: number, matches: (select: PodSelector, labels: LabelClass) => boolean) {
    this.#capacity = capacity;
    this.#matches = matches;
  }

  about(labels: LabelClass, kind: TermKind): readonly OwnedTerm[] {
    const { terms, about } = this.#kinds[kind];
    let found = about.get(labels);
    if (found === undefined) {
      found = [...terms.values()].filter(({ term }) => this.#matches(term.select, labels));
      about.set(labels, found);
    }
    return found;
  }

  change(node: number, { terms }: PodInfo, by: 1 | -1): void {
    for (const term of terms.required) this.#change("required", term, 0, node, by);
    for (const term of terms.requiredAnti) this.#change("requiredAnti", term, 0, node, by);
    for (const term of terms.preferred) this.#change("preferred", term, term.weight, node, by);
  }

  grow(capacity: number): void {
    this.#capacity = capacity;
    for (const kind of KINDS) {
      for (const owned of this.#kinds[kind].terms.values()) {
        const next = new Int32Array(capacity);
        next.set(owned.owners);
        owned.owners = next;
      }
    }
  }

  namespacesChanged(): void {
    for (const kind of KINDS) this.#kinds[kind].about = new WeakMap();
  }

  #change(kind: TermKind, term: PodTerm, weight: number, node: number, by: 1 | -1): void {
    const of = this.#kinds[kind];
    const key = `${weight}\0${term.key}`;
    let owned = of.terms.get(key);
    if (owned === undefined) {
      owned = { term, weight, owners: new Int32Array(this.#capacity), total: 0 };
      of.terms.set(key, owned);
      of.about = new WeakMap();
    }
    owned.owners[node] = (owned.owners[node] ?? 0) + by;
    owned.total += by;
    if (owned.total > 0) return;
    of.terms.delete(key);
    of.about = new WeakMap();
  }
}

function empty(): TermsOfKind {
  return { terms: new Map(), about: new WeakMap() };
}
