/** The value of `Type{field: value}`. */
import type { ObjectType } from "./type.ts";
import { ObjectValue, type Outcome, type Value } from "./value.ts";

export class StructValue extends ObjectValue {
  override readonly type: ObjectType;
  private readonly set: ReadonlyMap<string, Value>;

  constructor(type: ObjectType, set: ReadonlyMap<string, Value>) {
    super();
    this.type = type;
    this.set = set;
  }

  override get size(): number {
    return this.set.size;
  }

  override get(key: Value): Outcome | undefined {
    return typeof key === "string" ? this.set.get(key) : undefined;
  }

  override has(key: Value): boolean {
    return typeof key === "string" && this.set.has(key);
  }

  override keys(): Iterable<Value> {
    return this.set.keys();
  }
}
