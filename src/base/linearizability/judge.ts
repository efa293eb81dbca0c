/**
 * Whether a history of concurrent operations could have happened one after the other, each at some moment between its
 * call and its return: the search of Wing and Gong, with Lowe's memory of what was tried.
 *
 * 1. An operation without a known outcome may have happened at any moment after its call, or not at all.
 * 2. Histories of independent parts (keys) are checked one by one: together they are as good as the worst.
 * 3. The search is exact. `steps` bounds it: a history that is too hard is reported as such, never as good.
 */

export interface Operation<Input, Output> {
  /** Times of any clock that never goes back. */
  readonly calledAt: number;
  readonly returnedAt: number;
  readonly input: Input;
  /** Undefined: nobody knows whether it happened, nor what it answered. `returnedAt` is then ignored. */
  readonly output: Output | undefined;
}

export interface Model<State, Input, Output> {
  readonly initial: State;
  /** The next state, or undefined if this cannot be answered in this state. */
  step(state: State, input: Input, output: Output | undefined): State | undefined;
  /** Equal states have equal texts. */
  text(state: State): string;
}

export type Judgement<Input, Output> =
  | { readonly kind: "linearizable" }
  /** `longest`: the largest part, in order, that could have happened so; `stuck`: what could not follow it. */
  | {
      readonly kind: "violation";
      readonly longest: readonly Operation<Input, Output>[];
      readonly stuck: readonly Operation<Input, Output>[];
    }
  | { readonly kind: "undecided" };

const MAX_STEPS = 2_000_000;

export function judge<State, Input, Output>(
  model: Model<State, Input, Output>,
  history: readonly Operation<Input, Output>[],
  steps = MAX_STEPS,
): Judgement<Input, Output> {
  const search = new Search(model, history);
  return search.run(steps);
}

/** The first part that is not linearizable, or the verdict of all. */
export function judgeParts<State, Input, Output>(
  model: Model<State, Input, Output>,
  history: readonly Operation<Input, Output>[],
  partOf: (input: Input) => string,
): Judgement<Input, Output> {
  for (const part of Map.groupBy(history, ({ input }) => partOf(input)).values()) {
    const judgement = judge(model, part);
    if (judgement.kind !== "linearizable") return judgement;
  }
  return { kind: "linearizable" };
}

/** An event of the history in a doubly linked list: operations that were placed are taken out, and put back. */
interface Node {
  readonly operation: number;
  /** Of a call: its return. Absent: this is a return. */
  readonly match: Node | undefined;
  previous: Node | undefined;
  next: Node | undefined;
}

class Search<State, Input, Output> {
  readonly #model: Model<State, Input, Output>;
  readonly #operations: readonly Operation<Input, Output>[];
  readonly #head: Node = { operation: -1, match: undefined, previous: undefined, next: undefined };
  readonly #tried = new Set<string>();
  readonly #placed: boolean[];
  readonly #path: { readonly call: Node; readonly before: State }[] = [];
  #longest: readonly Operation<Input, Output>[] = [];
  #stuck: readonly Operation<Input, Output>[] = [];

  constructor(model: Model<State, Input, Output>, history: readonly Operation<Input, Output>[]) {
    this.#model = model;
    this.#operations = history;
    this.#placed = history.map(() => false);
    this.#link();
  }

  run(steps: number): Judgement<Input, Output> {
    let state = this.#model.initial;
    let node = this.#head.next;
    for (let step = 0; node !== undefined; step++) {
      // What is left has no known outcome: it need not have happened.
      if (this.#onlyUnknownLeft()) break;
      if (step >= steps) return { kind: "undecided" };
      const next: State | undefined = node.match === undefined ? undefined : this.#tryAt(node, state);
      if (next !== undefined && node.match !== undefined) {
        this.#take(node, state);
        state = next;
        node = this.#head.next;
        continue;
      }
      if (node.match !== undefined && node.next !== undefined) {
        node = node.next;
        continue;
      }
      // A return whose operation could not be placed, or the end: the last choice was wrong.
      this.#noteLongest(node);
      const last = this.#path.pop();
      if (last === undefined) return { kind: "violation", longest: this.#longest, stuck: this.#stuck };
      this.#putBack(last.call);
      state = last.before;
      node = last.call.next;
    }
    return { kind: "linearizable" };
  }

  /** The state after the call at `node`, unless it is impossible or has been tried. */
  #tryAt(node: Node, state: State): State | undefined {
    const operation = this.#operations[node.operation];
    if (operation === undefined) return undefined;
    const next = this.#model.step(state, operation.input, operation.output);
    if (next === undefined) return undefined;
    this.#placed[node.operation] = true;
    const text = `${this.#placed.map((placed) => (placed ? "1" : "0")).join("")} ${this.#model.text(next)}`;
    this.#placed[node.operation] = false;
    if (this.#tried.has(text)) return undefined;
    this.#tried.add(text);
    return next;
  }

  #take(call: Node, before: State): void {
    this.#placed[call.operation] = true;
    this.#path.push({ call, before });
    unlink(call);
    if (call.match !== undefined) unlink(call.match);
  }

  #putBack(call: Node): void {
    this.#placed[call.operation] = false;
    if (call.match !== undefined) relink(call.match);
    relink(call);
  }

  #onlyUnknownLeft(): boolean {
    return this.#operations.every(({ output }, i) => output === undefined || this.#placed[i]);
  }

  #noteLongest(at: Node): void {
    if (this.#path.length < this.#longest.length) return;
    this.#longest = this.#path.flatMap(({ call }) => this.#operations[call.operation] ?? []);
    this.#stuck = [this.#operations[at.operation]].filter((operation) => operation !== undefined);
  }

  #link(): void {
    const events = this.#operations.flatMap(({ calledAt, returnedAt, output }, operation) => [
      { at: calledAt, isReturn: false, operation },
      { at: output === undefined ? Number.POSITIVE_INFINITY : returnedAt, isReturn: true, operation },
    ]);
    // Calls before returns of the same time: they may overlap.
    events.sort((a, b) => (a.at === b.at ? Number(a.isReturn) - Number(b.isReturn) : a.at - b.at));
    const returns = new Map<number, Node>();
    for (const { operation, isReturn } of events) {
      if (isReturn) returns.set(operation, { operation, match: undefined, previous: undefined, next: undefined });
    }
    let last = this.#head;
    for (const { operation, isReturn } of events) {
      const match = returns.get(operation);
      if (match === undefined) continue;
      const node: Node = isReturn ? match : { operation, match, previous: undefined, next: undefined };
      node.previous = last;
      last.next = node;
      last = node;
    }
  }
}

function unlink(node: Node): void {
  if (node.previous !== undefined) node.previous.next = node.next;
  if (node.next !== undefined) node.next.previous = node.previous;
}

function relink(node: Node): void {
  if (node.previous !== undefined) node.previous.next = node;
  if (node.next !== undefined) node.next.previous = node;
}
