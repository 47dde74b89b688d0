/**
 * Functions that answer a constant until the OpenAI-shaped endpoint and MCP are whole. They call nothing yet, so
 * no run uses their grants. A name goes from this list together with its constant, and whole-run.ts then has to
 * use every grant of the function.
 */
export const skeletons: readonly string[] = ['OpenaiImages', 'OpenaiModels', 'Mcp'];
