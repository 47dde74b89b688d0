/** Splits an expression into tokens, and reports where a syntax error is, as DynamoDB does. */
import { maxExpressionBytes } from '../refusals.ts';
import { byteLength } from '../values.ts';

/** A fault of an expression. The caller knows in which parameter the expression stood. */
export class ExpressionFault extends Error {}

/** `word` is a name or a keyword. `hash` and `colon` are placeholders of names and of values. */
export interface Token {
  readonly kind: 'word' | 'hash' | 'colon' | 'number' | 'sign' | 'end';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const pattern = /\s*(?:(#\w+)|(:\w+)|([A-Za-z]\w*)|(0|[1-9]\d*)|(<=|>=|<>|\S))/y;
const kinds = ['hash', 'colon', 'word', 'number', 'sign'] as const;

/** These words are no names in any expression. Upper and lower case count alike. */
const keywords: ReadonlySet<string> = new Set([
  'AND',
  'OR',
  'NOT',
  'IN',
  'BETWEEN',
  'SET',
  'REMOVE',
  'ADD',
  'DELETE',
]);

/** The tokens of one expression, read from left to right. */
export class Tokens {
  readonly #tokens: Token[] = [];
  readonly #text: string;
  #next = 0;

  /** Throws ExpressionFault for a text that is empty or too long. */
  constructor(text: string) {
    if (text === '') throw new ExpressionFault('The expression can not be empty;');
    const size = byteLength(text);
    if (size > maxExpressionBytes)
      throw new ExpressionFault(
        `Expression size has exceeded the maximum allowed size; expression size: ${size}`,
      );
    this.#text = text;
    for (let end = 0; ;) {
      pattern.lastIndex = end;
      const match = pattern.exec(text);
      if (match === null) break;
      end = pattern.lastIndex;
      const group = kinds.findIndex((_kind, index) => match[index + 1] !== undefined);
      const word = match[group + 1] ?? '';
      this.#tokens.push({ kind: kinds[group] ?? 'sign', text: word, start: end - word.length, end });
    }
    this.#tokens.push({ kind: 'end', text: '<EOF>', start: text.length, end: text.length });
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)] as Token;
  }

  take(): Token {
    const token = this.peek();
    this.#next += 1;
    return token;
  }

  isSign(sign: string): boolean {
    const { kind, text } = this.peek();
    return kind === 'sign' && text === sign;
  }

  takesSign(sign: string): boolean {
    const isNext = this.isSign(sign);
    if (isNext) this.#next += 1;
    return isNext;
  }

  expectSign(sign: string): void {
    if (!this.takesSign(sign)) throw this.fault();
  }

  /** The keyword that comes next, in upper case. */
  keyword(): string | undefined {
    const { kind, text } = this.peek();
    const upper = kind === 'word' ? text.toUpperCase() : '';
    return keywords.has(upper) ? upper : undefined;
  }

  takesKeyword(keyword: string): boolean {
    const isNext = this.keyword() === keyword;
    if (isNext) this.#next += 1;
    return isNext;
  }

  expectKeyword(keyword: string): void {
    if (!this.takesKeyword(keyword)) throw this.fault();
  }

  expectEnd(): void {
    if (this.peek().kind !== 'end') throw this.fault();
  }

  /** The syntax error at the next token. It shows the text from the previous token to the next one. */
  fault(): ExpressionFault {
    const { text } = this.peek();
    const before = this.#tokens[this.#next - 1] ?? this.peek();
    const start = this.#next === 0 && this.peek().kind === 'end' ? 0 : before.start;
    const near = this.#text.slice(start, this.peek(1).end);
    return new ExpressionFault(`Syntax error; token: "${text}", near: "${near}"`);
  }
}

/**
 * DynamoDB's reserved words. An expression may name such an attribute only through a placeholder.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ReservedWords.html
 */
const words = `
ABORT ABSOLUTE ACTION AFTER AGENT AGGREGATE ALL ALLOCATE ALTER ANALYZE ANY ARCHIVE ARE ARRAY AS ASC
ASCII ASENSITIVE ASSERTION ASYMMETRIC AT ATOMIC ATTACH ATTRIBUTE AUTH AUTHORIZATION AUTHORIZE AUTO AVG
BACK BACKUP BASE BATCH BEFORE BEGIN BIGINT BINARY BIT BLOB BLOCK BOOLEAN BOTH BREADTH BUCKET BULK BY
BYTE CALL CALLED CALLING CAPACITY CASCADE CASCADED CASE CAST CATALOG CHAR CHARACTER CHECK CLASS CLOB
CLOSE CLUSTER CLUSTERED CLUSTERING CLUSTERS COALESCE COLLATE COLLATION COLLECTION COLUMN COLUMNS COMBINE
COMMENT COMMIT COMPACT COMPILE COMPRESS CONDITION CONFLICT CONNECT CONNECTION CONSISTENCY CONSISTENT
CONSTRAINT CONSTRAINTS CONSTRUCTOR CONSUMED CONTINUE COPY CORRESPONDING COUNT COUNTER CREATE CROSS CUBE
CURRENT CURSOR CYCLE DATA DATABASE DATE DATETIME DAY DEALLOCATE DEC DECIMAL DECLARE DEFAULT DEFERRABLE
DEFERRED DEFINE DEFINED DEFINITION DELIMITED DEPTH DEREF DESC DESCRIBE DESCRIPTOR DETACH DETERMINISTIC
DIAGNOSTICS DIRECTORIES DISABLE DISCONNECT DISTINCT DISTRIBUTE DO DOMAIN DOUBLE DROP DUMP DURATION
DYNAMIC EACH ELEMENT ELSE ELSEIF EMPTY ENABLE END EQUAL EQUALS ERROR ESCAPE ESCAPED EVAL EVALUATE
EXCEEDED EXCEPT EXCEPTION EXCEPTIONS EXCLUSIVE EXEC EXECUTE EXISTS EXIT EXPLAIN EXPLODE EXPORT
EXPRESSION EXTENDED EXTERNAL EXTRACT FAIL FALSE FAMILY FETCH FIELDS FILE FILTER FILTERING FINAL FINISH
FIRST FIXED FLATTERN FLOAT FOR FORCE FOREIGN FORMAT FORWARD FOUND FREE FROM FULL FUNCTION FUNCTIONS
GENERAL GENERATE GET GLOB GLOBAL GO GOTO GRANT GREATER GROUP GROUPING HANDLER HASH HAVE HAVING HEAP
HIDDEN HOLD HOUR IDENTIFIED IDENTITY IF IGNORE IMMEDIATE IMPORT INCLUDING INCLUSIVE INCREMENT
INCREMENTAL INDEX INDEXED INDEXES INDICATOR INFINITE INITIALLY INLINE INNER INNTER INOUT INPUT
INSENSITIVE INSERT INSTEAD INT INTEGER INTERSECT INTERVAL INTO INVALIDATE IS ISOLATION ITEM ITEMS
ITERATE JOIN KEY KEYS LAG LANGUAGE LARGE LAST LATERAL LEAD LEADING LEAVE LEFT LENGTH LESS LEVEL LIKE
LIMIT LIMITED LINES LIST LOAD LOCAL LOCALTIME LOCALTIMESTAMP LOCATION LOCATOR LOCK LOCKS LOG LOGED LONG
LOOP LOWER MAP MATCH MATERIALIZED MAX MAXLEN MEMBER MERGE METHOD METRICS MIN MINUS MINUTE MISSING MOD
MODE MODIFIES MODIFY MODULE MONTH MULTI MULTISET NAME NAMES NATIONAL NATURAL NCHAR NCLOB NEW NEXT NO
NONE NULL NULLIF NUMBER NUMERIC OBJECT OF OFFLINE OFFSET OLD ON ONLINE ONLY OPAQUE OPEN OPERATOR OPTION
ORDER ORDINALITY OTHER OTHERS OUT OUTER OUTPUT OVER OVERLAPS OVERRIDE OWNER PAD PARALLEL PARAMETER
PARAMETERS PARTIAL PARTITION PARTITIONED PARTITIONS PATH PERCENT PERCENTILE PERMISSION PERMISSIONS PIPE
PIPELINED PLAN POOL POSITION PRECISION PREPARE PRESERVE PRIMARY PRIOR PRIVATE PRIVILEGES PROCEDURE
PROCESSED PROJECT PROJECTION PROPERTY PROVISIONING PUBLIC PUT QUERY QUIT QUORUM RAISE RANDOM RANGE RANK
RAW READ READS REAL REBUILD RECORD RECURSIVE REDUCE REF REFERENCE REFERENCES REFERENCING REGEXP REGION
REINDEX RELATIVE RELEASE REMAINDER RENAME REPEAT REPLACE REQUEST RESET RESIGNAL RESOURCE RESPONSE
RESTORE RESTRICT RESULT RETURN RETURNING RETURNS REVERSE REVOKE RIGHT ROLE ROLES ROLLBACK ROLLUP ROUTINE
ROW ROWS RULE RULES SAMPLE SATISFIES SAVE SAVEPOINT SCAN SCHEMA SCOPE SCROLL SEARCH SECOND SECTION
SEGMENT SEGMENTS SELECT SELF SEMI SENSITIVE SEPARATE SEQUENCE SERIALIZABLE SESSION SETS SHARD SHARE
SHARED SHORT SHOW SIGNAL SIMILAR SKEWED SMALLINT SNAPSHOT SOME SOURCE SPACE SPACES SPARSE SPECIFIC
SPECIFICTYPE SPLIT SQL SQLCODE SQLERROR SQLEXCEPTION SQLSTATE SQLWARNING START STATE STATIC STATUS
STORAGE STORE STORED STREAM STRING STRUCT STYLE SUB SUBMULTISET SUBPARTITION SUBSTRING SUBTYPE SUM SUPER
SYMMETRIC SYNONYM SYSTEM TABLE TABLESAMPLE TEMP TEMPORARY TERMINATED TEXT THAN THEN THROUGHPUT TIME
TIMESTAMP TIMEZONE TINYINT TO TOKEN TOTAL TOUCH TRAILING TRANSACTION TRANSFORM TRANSLATE TRANSLATION
TREAT TRIGGER TRIM TRUE TRUNCATE TTL TUPLE TYPE UNDER UNDO UNION UNIQUE UNIT UNKNOWN UNLOGGED UNNEST
UNPROCESSED UNSIGNED UNTIL UPDATE UPPER URL USAGE USE USER USERS USING UUID VACUUM VALUE VALUED VALUES
VARCHAR VARIABLE VARIANCE VARINT VARYING VIEW VIEWS VIRTUAL VOID WAIT WHEN WHENEVER WHERE WHILE WINDOW
WITH WITHIN WITHOUT WORK WRAPPED WRITE YEAR ZONE
`;

const reserved: ReadonlySet<string> = new Set(words.trim().split(/\s+/));

export function isReserved(name: string): boolean {
  return reserved.has(name.toUpperCase());
}
