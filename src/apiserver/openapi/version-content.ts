/** What one group and version contributes to the documents: its operations, and the types that these refer to. */
import type { GroupVersion } from "#api";
import type { ServedVersion } from "../discovery/index.ts";
import { renderCustomList, renderCustomType } from "./custom-type.ts";
import { kindOperations } from "./kind-operations.ts";
import { type KindsOfType, kindsOfTypes } from "./known-versions.ts";
import { customTypeName } from "./names.ts";
import type { GroupVersionKind, Operation, PathOperations } from "./operation.ts";
import type { Parameters } from "./parameters.ts";
import { resourcesOperations } from "./server-operations.ts";
import { reached, type TypeText, type TypeTexts, typeText } from "./type-texts.ts";

export interface Content {
  /** Sorted by path. */
  readonly paths: readonly PathOperations[];
  /** Sorted by name. */
  types(texts: TypeTexts, shared: readonly GroupVersion[]): Map<string, string>;
}

export class Contents {
  readonly #parameters: Parameters;
  readonly #cbor: boolean;
  readonly #kindsOf: KindsOfType = kindsOfTypes();

  constructor(parameters: Parameters, cbor: boolean) {
    this.#parameters = parameters;
    this.#cbor = cbor;
  }

  ofServer(operations: PathOperations): Content {
    return {
      paths: [operations],
      types: (texts, shared) => this.#types([operations], texts, shared, () => undefined),
    };
  }

  ofVersion(served: ServedVersion): Content {
    const { group, version, kinds, custom = false } = served;
    const paths = kinds.flatMap((kind) => {
      const typeName = custom ? customTypeName(kind) : (kind.schema.goType ?? customTypeName(kind));
      const listKind = kind.listKind ?? `${kind.kind}List`;
      const listTypeName = typeName.slice(0, typeName.lastIndexOf(".") + 1) + listKind;
      return kindOperations(kind, { typeName, listTypeName, custom, cbor: this.#cbor }, this.#parameters);
    });
    // Custom APIs have no discovery operations.
    if (!custom) paths.push(resourcesOperations(group, version));
    paths.sort((a, b) => (a.path < b.path ? -1 : 1));
    return {
      paths,
      types: (texts, shared) => {
        const own = custom ? customTypes(served, texts) : new Map<string, CustomType>();
        return this.#types(paths, texts, shared, (name) => own.get(name));
      },
    };
  }

  #types(
    paths: readonly PathOperations[],
    texts: TypeTexts,
    shared: readonly GroupVersion[],
    custom: (typeName: string) => CustomType | undefined,
  ): Map<string, string> {
    const roots = new Set(paths.flatMap(({ operations }) => operations.flatMap(typesOf)));
    const found = reached(roots, (name) => custom(name)?.type ?? texts.get(name));
    const entries = [...found].map(([name, type]): [string, string] => {
      const own = custom(name);
      return [name, type.text(own === undefined ? this.#kindsOf(name, shared) : [own.gvk])];
    });
    return new Map(entries);
  }
}

interface CustomType {
  readonly type: TypeText;
  readonly gvk: GroupVersionKind;
}

function customTypes({ kinds, schemas }: ServedVersion, texts: TypeTexts): Map<string, CustomType> {
  const { version, descriptions } = texts;
  return new Map(
    kinds.flatMap((kind): [string, CustomType][] => {
      const list = { ...kind, kind: kind.listKind ?? `${kind.kind}List` };
      const type = renderCustomType(schemas?.get(kind.kind), version, descriptions);
      return [
        [customTypeName(kind), { type: typeText(type), gvk: kind }],
        [customTypeName(list), { type: typeText(renderCustomList(kind, version, descriptions)), gvk: list }],
      ];
    }),
  );
}

function typesOf({ body, responses }: Operation): string[] {
  const answers = Object.values(responses).flatMap((content) => (content === "text" ? [] : [content.typeName]));
  return body === undefined ? answers : [...answers, body.typeName];
}
