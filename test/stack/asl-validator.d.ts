/** asl-validator is TypeScript inside and ships no types. */
declare module 'asl-validator' {
  export default function validate(definition: object): {
    readonly isValid: boolean;
    readonly errors: readonly object[];
  };
}
