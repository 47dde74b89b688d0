/** Where the document is. The checks read the file and do not make the document anew, which takes longer. */
export const documentPath = 'docs/openapi.json';
export const operatorDocumentPath = 'docs/operator-openapi.json';
