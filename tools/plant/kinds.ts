/**
 * The kinds of small bugs. Each kind takes a node of the syntax tree, and gives the possible replacements of
 * text.
 */
import ts from 'typescript';

/** One bug: the text replaces the characters from start to end. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The file around a node. `types` is absent for JSON. */
export interface Around {
  readonly source: ts.SourceFile;
  readonly types?: ts.TypeChecker | undefined;
}

type Kind = (node: ts.Node, around: Around) => readonly Edit[];

const over = (node: ts.Node, text: string, { source }: Around): Edit => ({
  start: node.getStart(source),
  end: node.end,
  text,
});

/** Each operator or function is replaced by the one beside it. */
const comparisons: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
};
const logic: Readonly<Record<string, readonly string[]>> = { '&&': ['||'], '||': ['&&', '??'], '??': ['||'] };
const calls: Readonly<Record<string, string>> = {
  'Math.min': 'Math.max',
  'Math.max': 'Math.min',
  'Math.ceil': 'Math.floor',
  'Math.floor': 'Math.ceil',
  'Math.round': 'Math.floor',
};

/** The values of these properties are texts for people. A changed word there changes no behaviour. */
const wordings = new Set([
  'message',
  'description',
  'comment',
  'Comment',
  'meaning',
  'remedy',
  'title',
  'label',
  'reason',
  'restApiName',
]);

function isWording(node: ts.Node): boolean {
  for (let at: ts.Node = node; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isImportDeclaration(at) || ts.isExportDeclaration(at) || ts.isTypeNode(at)) return true;
    if (
      ts.isPropertyAssignment(at) &&
      ts.isIdentifier(at.name) &&
      wordings.has(at.name.text) &&
      hasSpace(node)
    )
      return true;
    if (
      (ts.isNewExpression(at) || ts.isCallExpression(at)) &&
      /(Error|Problem|^retryLater|^invalidRequest)$/.test(at.expression.getText()) &&
      hasSpace(node)
    )
      return true;
  }
  return ts.isPropertyAssignment(node.parent) && node.parent.name === node;
}

function hasSpace(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) && node.text.includes(' ');
}

/** Each edit removes one element and its comma. */
function without(list: ts.NodeArray<ts.Node>, around: Around): Edit[] {
  return list.map((element, index) => {
    const next = list[index + 1];
    const before = list[index - 1];
    if (next) return { start: element.getStart(around.source), end: next.getStart(around.source), text: '' };
    return { start: before ? before.end : element.getStart(around.source), end: element.end, text: '' };
  });
}

/** Each edit exchanges two neighbouring arguments of a call that have the same type. */
function exchanged(list: ts.NodeArray<ts.Expression>, { source, types }: Around): Edit[] {
  return list.slice(1).flatMap((right, index) => {
    const left = list[index];
    if (!left || !types || left.getText(source) === right.getText(source)) return [];
    const typeOf = (node: ts.Expression): string =>
      types.typeToString(types.getBaseTypeOfLiteralType(types.getTypeAtLocation(node)));
    if (typeOf(left) !== typeOf(right)) return [];
    const between = source.text.slice(left.end, right.getStart(source));
    return [
      {
        start: left.getStart(source),
        end: right.end,
        text: `${right.getText(source)}${between}${left.getText(source)}`,
      },
    ];
  });
}

export const kinds: Readonly<Record<string, Kind>> = {
  'comparison shifted': (node, around) => {
    if (!ts.isBinaryExpression(node)) return [];
    const other = comparisons[node.operatorToken.getText(around.source)];
    return other === undefined ? [] : [over(node.operatorToken, other, around)];
  },
  'and, or exchanged': (node, around) => {
    if (!ts.isBinaryExpression(node)) return [];
    return (logic[node.operatorToken.getText(around.source)] ?? []).map((other) =>
      over(node.operatorToken, other, around),
    );
  },
  'number off by one': (node, around) => {
    if (!ts.isNumericLiteral(node) || ts.isTypeNode(node.parent)) return [];
    const value = Number(node.text);
    return [value + 1, ...(value > 0 ? [value - 1] : [])].map((next) => over(node, String(next), around));
  },
  'condition forced': (node, around) => {
    const isTested = ts.isIfStatement(node) || ts.isWhileStatement(node) || ts.isDoStatement(node);
    const condition = isTested
      ? node.expression
      : ts.isConditionalExpression(node) || ts.isForStatement(node)
        ? node.condition
        : undefined;
    return condition ? ['true', 'false'].map((text) => over(condition, text, around)) : [];
  },
  'not dropped': (node, around) =>
    ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken
      ? [over(node, node.operand.getText(around.source), around)]
      : [],
  'await dropped': (node, around) =>
    ts.isAwaitExpression(node) ? [over(node, node.expression.getText(around.source), around)] : [],
  'statement dropped': (node, around) => {
    if (!ts.isExpressionStatement(node)) return [];
    const inner =
      ts.isAwaitExpression(node.expression) || ts.isVoidExpression(node.expression)
        ? node.expression.expression
        : node.expression;
    return ts.isCallExpression(inner) ? [over(node, ';', around)] : [];
  },
  'branches exchanged': (node, around) => {
    if (!ts.isConditionalExpression(node)) return [];
    const [yes, no] = [node.whenTrue.getText(around.source), node.whenFalse.getText(around.source)];
    return [
      { start: node.whenTrue.getStart(around.source), end: node.whenFalse.end, text: `${no} : ${yes}` },
    ];
  },
  'text changed': (node, around) => {
    if (!ts.isStringLiteral(node) || isWording(node)) return [];
    return [over(node, `'${node.text.replace(/['\\\n]/g, '')}x'`, around)];
  },
  'element dropped': (node, around) => {
    if (ts.isArrayLiteralExpression(node)) return without(node.elements, around);
    return ts.isObjectLiteralExpression(node) ? without(node.properties, around) : [];
  },
  'arguments exchanged': (node, around) =>
    ts.isCallExpression(node) ? exchanged(node.arguments, around) : [],
  'anchor dropped': (node, around) => {
    if (!ts.isRegularExpressionLiteral(node)) return [];
    const anchors = [/^\/\^/.test(node.text) ? 1 : -1, /(?<!\\)\$(?=\/[a-z]*$)/.exec(node.text)?.index ?? -1];
    return anchors
      .filter((at) => at > 0)
      .map((at) => over(node, node.text.slice(0, at) + node.text.slice(at + 1), around));
  },
  'rounding or limit exchanged': (node, around) => {
    if (!ts.isCallExpression(node)) return [];
    const other = calls[node.expression.getText(around.source)];
    return other === undefined ? [] : [over(node.expression, other, around)];
  },
  'flag flipped': (node, around) => {
    if (node.kind === ts.SyntaxKind.TrueKeyword && !ts.isTypeNode(node.parent))
      return [over(node, 'false', around)];
    return node.kind === ts.SyntaxKind.FalseKeyword && !ts.isTypeNode(node.parent)
      ? [over(node, 'true', around)]
      : [];
  },
};

/** The kinds of bugs for the definition of the state machine. */
export const definitionKinds: Readonly<Record<string, Kind>> = {
  'number off by one': (node, around) => kinds['number off by one']?.(node, around) ?? [],
  'error name dropped': (node, around) => {
    const isList =
      ts.isArrayLiteralExpression(node) &&
      ts.isPropertyAssignment(node.parent) &&
      node.parent.name.getText(around.source) === '"ErrorEquals"';
    return isList && node.elements.length > 1 ? without(node.elements, around) : [];
  },
  'retry or catch dropped': (node, around) => {
    const isList =
      ts.isArrayLiteralExpression(node) &&
      ts.isPropertyAssignment(node.parent) &&
      /^"(Retry|Catch)"$/.test(node.parent.name.getText(around.source));
    return isList ? without(node.elements, around) : [];
  },
};
