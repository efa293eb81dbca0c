/** The whole public surface of dynamic: what webhooks and policies have in common. */
export { admissionRequest } from "./admission-request.ts";
export { Current } from "./current.ts";
export { Deciding } from "./deciding.ts";
export { type Inputs, inputsOf, namespaceFor } from "./expression-input.ts";
export { Followed } from "./followed.ts";
export { Hooks } from "./hooks.ts";
export { decoded, rewrite } from "./rewrite.ts";
export { type Choice, choices, chosen } from "./rules.ts";
export { isSame } from "./same.ts";
export { namespaceNamed, type Selectors, selectorsOf, selectsNamespace, selectsObject } from "./selectors.ts";
export { type GroupVersionKind, isNamespaces, kindText, namespaceOf, type Target, targetOf } from "./target.ts";
export { converted, convertible, type Versioned, Versions } from "./versions.ts";
