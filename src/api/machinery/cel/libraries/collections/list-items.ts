/** Reading lists: an item may not be what its type says, and then reading it fails. */
import { CelError, ListValue, type Outcome, type Value } from "../../values/value.ts";

export function itemsOf(list: ListValue): readonly Value[] | CelError {
  const items: Value[] = [];
  for (let index = 0; index < list.size; index++) {
    const item = list.at(index);
    if (item instanceof CelError) return item;
    items.push(item);
  }
  return items;
}

/** Part of a list, or the whole in another order, without copying. */
export class ListView extends ListValue {
  override readonly size: number;
  readonly #at: (index: number) => Outcome;

  constructor(size: number, at: (index: number) => Outcome) {
    super();
    this.size = size;
    this.#at = at;
  }

  override at(index: number): Outcome {
    return this.#at(index);
  }
}
