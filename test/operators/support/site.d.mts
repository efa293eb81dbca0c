export const plural: string;
export const group: string;
export const version: string;
export const finalizer: string;
export const definition: object;
