/**
 * In the bundles, the part of the MCP SDK that checks values by a JSON Schema: 120 KB, which no tool needs. The SDK
 * checks by it only a client's answers to questions of the server, and the service asks none.
 */
export class DefaultJsonSchemaValidator {
  getValidator(): never {
    throw new Error('the bundle has no validator of JSON Schema');
  }
}
