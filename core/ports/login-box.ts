/** Seals what the browser keeps while a person signs in. */
export interface LoginBox {
  seal(text: string): Promise<string>;
  /** Undefined when the text was not sealed here, was altered, or its key is gone. */
  open(sealed: string): Promise<string | undefined>;
}
