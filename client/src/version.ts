/** The version of this package, which the header User-Agent names. A test compares it with package.json. */
export const version: string = '0.1.0';
