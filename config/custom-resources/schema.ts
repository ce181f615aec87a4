/** As much of a CustomResourceDefinition as the page tells. */
export interface Definition {
  readonly spec: {
    readonly scope: 'Cluster' | 'Namespaced';
    readonly names: { readonly kind: string; readonly plural: string; readonly shortNames: readonly string[] };
    readonly versions: readonly [Version];
  };
}

export interface Version {
  readonly name: string;
  readonly additionalPrinterColumns: readonly Column[];
  readonly schema: { readonly openAPIV3Schema: Schema };
}

export interface Column {
  readonly name: string;
  readonly description: string;
  /** Above 0: shown with `-o wide` alone. */
  readonly priority?: number;
}

export interface Schema {
  readonly type: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
  readonly 'x-kubernetes-validations'?: readonly { readonly message: string }[];
}
