/**
 * Paths of fields: `spec.containers[0].env[name]`. The text is made only when it is needed, since most validation finds
 * nothing.
 */

export class FieldPath {
  readonly #parent: FieldPath | undefined;
  /** The last step, as it is written; undefined for the object as a whole. */
  readonly #step: string | number | undefined;
  readonly #form: "child" | "bracket";

  constructor(parent: FieldPath | undefined, step: string | number | undefined, form: "child" | "bracket") {
    this.#parent = parent;
    this.#step = step;
    this.#form = form;
  }

  child(name: string, ...more: readonly string[]): FieldPath {
    const path = new FieldPath(this, name, "child");
    return more.length === 0 ? path : path.below(more);
  }

  below(names: readonly string[]): FieldPath {
    let path: FieldPath = this;
    for (const name of names) path = new FieldPath(path, name, "child");
    return path;
  }

  index(index: number): FieldPath {
    return new FieldPath(this, index, "bracket");
  }

  key(key: string): FieldPath {
    return new FieldPath(this, key, "bracket");
  }

  /** `<nil>` for the object as a whole. */
  toString(): string {
    return this.#step === undefined ? "<nil>" : this.#write();
  }

  #write(): string {
    const before = this.#parent === undefined || this.#parent.#step === undefined ? "" : this.#parent.#write();
    if (this.#form === "bracket") return `${before}[${this.#step}]`;
    return before === "" ? `${this.#step}` : `${before}.${this.#step}`;
  }
}

/** `at("spec").child("containers").index(0)`; without names, the object as a whole. */
export function at(...names: readonly string[]): FieldPath {
  return new FieldPath(undefined, undefined, "child").below(names);
}
