//===- MistakeRules.cpp - Rules that describe mistakes --------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grammar of Python 3.11 as MistakeFinder matches it. The language is that
// of "The full grammar specification" in the Python reference; which mistakes
// are looked for, and in which order, follows what CPython 3.11 reports. Binary
// operators are one level, since only the extent of an expression matters, and
// left recursion is repetition.
//
//   'x'  "x"    a token or keyword; a soft keyword
//   e f   e | f   in sequence; ordered choice, in parentheses to nest
//   e? e* e+    optional, any number, at least one
//   e % s       one or more, separated by s
//   &e !e       looked at only: e follows, e does not follow
//   ~           from here on no other choice is tried
//   ^'x'        required: anything else is an error at once
//   a:e b:e     marks a part for the message
//   #name       at the end: this is the mistake `name` (ReportMistakes.cpp)
//   quietly e   without looking for mistakes inside e
//   name* =     CPython remembers this rule's result in both passes alike
//
// A choice that is only a rule named "bad_..." is skipped in quiet matching. In
// other places such rules are always matched, as in CPython.
//
//===----------------------------------------------------------------------===//

#include "nereid/Syntax/Mistakes/MistakeGrammar.h"

namespace nereid::syntax {

const RuleText statementRules[] = {
    {"statement", "compound | simple_line"},
    {"simple_line", "simple % ';' ';'? NEWLINE"},
    {"simple*",
     "assignment | star_expressions"
     " | 'return' star_expressions?"
     " | 'import' import_as % ','"
     " | 'from' ('.' | '...')* dotted_name 'import' import_targets"
     " | 'from' ('.' | '...')+ 'import' import_targets"
     " | 'raise' expression ('from' expression)? | 'raise'"
     " | 'pass' | &'del' delete | &'yield' yield"
     " | 'assert' expression (',' expression)?"
     " | 'break' | 'continue' | 'global' NAME % ',' | 'nonlocal' NAME % ','"},
    {"compound",
     "&('def' | '@' | 'async') function | &'if' if | &('class' | '@') class"
     " | &('with' | 'async') with | &('for' | 'async') for | &'try' try"
     " | &'while' while | match"},

    // Assignments.
    {"assignment", "NAME ':' expression ('=' right_side)?"
                   " | ('(' single_target ')' | member_target) ':' expression"
                   " ('=' right_side)?"
                   " | (star_targets '=')+ right_side !'='"
                   " | single_target augmented ~ right_side"
                   " | bad_assignment"},
    {"right_side", "yield | star_expressions"},
    {"augmented",
     "'+=' | '-=' | '*=' | '@=' | '/=' | '%=' | '&=' | '|=' | '^=' | '<<='"
     " | '>>=' | '**=' | '//='"},
    {"bad_assignment",
     "a:bad_annotated ':' expression #annotatedKind"
     " | a:star_named ',' (star_named % ',' ','?)* ':' expression"
     " #annotatedTuple"
     " | a:expression ':' expression #annotatedOther"
     " | (star_targets '=')* a:star_expressions '=' #assignTarget"
     " | (star_targets '=')* a:yield '=' #assignYield"
     " | a:star_expressions augmented right_side #augmentedTarget"},
    {"bad_annotated", "list | tuple | '(' bad_annotated ')'"},
    {"delete", "'del' del_targets &(';' | NEWLINE) | bad_delete"},
    {"bad_delete", "'del' a:star_expressions #deleteTarget"},

    // Imports.
    {"import_as", "dotted_name ('as' NAME)?"},
    {"dotted_name", "NAME % '.'"},
    {"import_targets",
     "'(' import_names ','? ')' | import_names !',' | '*' | bad_import"},
    {"import_names", "(NAME ('as' NAME)?) % ','"},
    {"bad_import", "import_names ',' NEWLINE #importComma"},

    // Blocks.
    {"block*", "NEWLINE INDENT statement+ DEDENT | simple_line | bad_block"},
    {"bad_block", "NEWLINE !INDENT #noBlock"},
    {"decorators", "('@' named NEWLINE)+"},
    {"class", "decorators class_raw | class_raw"},
    {"class_raw", "bad_class | 'class' NAME ('(' arguments? ')')? ':' block"},
    {"bad_class", "'class' NAME ('(' arguments? ')')? NEWLINE #noColon"
                  " | a:'class' NAME ('(' arguments? ')')? ':' NEWLINE !INDENT"
                  " #noBlockAfterClass"},
    {"function", "decorators function_raw | function_raw"},
    {"function_raw", "bad_function | 'async'? 'def' NAME ^'(' parameters? ')'"
                     " ('->' expression)? ^':' block"},
    {"bad_function",
     "'async'? a:'def' NAME '(' parameters? ')' ('->' expression)? ':' NEWLINE"
     " !INDENT #noBlockAfterFunction"},

    {"if", "bad_if | 'if' named ':' block elif | 'if' named ':' block else?"},
    {"elif",
     "bad_elif | 'elif' named ':' block elif | 'elif' named ':' block else?"},
    {"else", "bad_else | 'else' ^':' block"},
    {"while", "bad_while | 'while' named ':' block else?"},
    {"bad_if", "'if' named NEWLINE #noColon"
               " | a:'if' named ':' NEWLINE !INDENT #noBlockAfter"},
    {"bad_elif", "'elif' named NEWLINE #noColon"
                 " | a:'elif' named ':' NEWLINE !INDENT #noBlockAfter"},
    {"bad_else", "a:'else' ':' NEWLINE !INDENT #noBlockAfter"},
    {"bad_while", "'while' named NEWLINE #noColon"
                  " | a:'while' named ':' NEWLINE !INDENT #noBlockAfter"},

    {"for",
     "bad_for | 'for' star_targets 'in' ~ star_expressions ':' block else?"
     " | 'async' 'for' star_targets 'in' ~ star_expressions ':' block else?"
     " | bad_for_target"},
    {"bad_for",
     "'async'? 'for' star_targets 'in' star_expressions NEWLINE #noColon"
     " | 'async'? a:'for' star_targets 'in' star_expressions ':' NEWLINE"
     " !INDENT #noBlockAfter"},
    {"bad_for_target", "'async'? 'for' a:star_expressions #forTarget"},

    {"with", "bad_with_block"
             " | 'with' '(' with_item % ',' ','? ')' ':' block"
             " | 'with' with_item % ',' ':' block"
             " | 'async' 'with' '(' with_item % ',' ','? ')' ':' block"
             " | 'async' 'with' with_item % ',' ':' block"
             " | bad_with"},
    {"with_item",
     "expression 'as' star_target &(',' | ')' | ':') | bad_with_item"
     " | expression"},
    {"bad_with_item",
     "expression 'as' a:expression &(',' | ')' | ':') #assignTarget"},
    {"bad_with",
     "'async'? 'with' (expression ('as' star_target)?) % ',' NEWLINE #noColon"
     " | 'async'? 'with' '(' (expressions ('as' star_target)?) % ',' ','? ')'"
     " NEWLINE #noColon"},
    {"bad_with_block",
     "'async'? a:'with' (expression ('as' star_target)?) % ',' ':' NEWLINE"
     " !INDENT #noBlockAfter"
     " | 'async'? a:'with' '(' (expressions ('as' star_target)?) % ',' ','?"
     " ')' ':' NEWLINE !INDENT #noBlockAfter"},

    {"try", "bad_try | 'try' ^':' block finally"
            " | 'try' ^':' block except+ else? finally?"
            " | 'try' ^':' block except_star+ else? finally?"},
    {"except", "bad_except_block | 'except' expression ('as' NAME)? ':' block"
               " | 'except' ':' block | bad_except"},
    {"except_star",
     "bad_except_star_block"
     " | 'except' '*' expression ('as' NAME)? ':' block | bad_except"},
    {"finally", "bad_finally | 'finally' ^':' block"},
    {"bad_try",
     "a:'try' ':' NEWLINE !INDENT #noBlockAfter"
     " | 'try' ':' block !('except' | 'finally') #noHandler"
     " | 'try' ':' block* except+ a:'except' b:'*' expression ('as' NAME)? ':'"
     " #mixedHandlers"
     " | 'try' ':' block* except_star+ a:'except' (expression ('as' NAME)?)?"
     " ':' #mixedHandler"},
    {"bad_except", "'except' '*'? a:expression ',' expressions ('as' NAME)? ':'"
                   " #severalExceptions"
                   " | 'except' '*'? expression ('as' NAME)? NEWLINE #noColon"
                   " | 'except' NEWLINE #noColon"
                   " | 'except' '*' (NEWLINE | ':') #noExceptionType"},
    {"bad_finally", "a:'finally' ':' NEWLINE !INDENT #noBlockAfter"},
    {"bad_except_block",
     "a:'except' expression ('as' NAME)? ':' NEWLINE !INDENT #noBlockAfter"
     " | a:'except' ':' NEWLINE !INDENT #noBlockAfter"},
    {"bad_except_star_block",
     "a:'except' '*' expression ('as' NAME)? ':' NEWLINE !INDENT"
     " #noBlockAfter"},

    // match.
    {"match", "\"match\" subject ':' NEWLINE INDENT case+ DEDENT | bad_match"},
    {"subject", "star_named ',' star_named_list? | named"},
    {"case", "bad_case | \"case\" patterns ('if' named)? ':' block"},
    {"bad_match", "\"match\" subject NEWLINE #noColon"
                  " | a:\"match\" subject ':' NEWLINE !INDENT #noBlockAfter"},
    {"bad_case",
     "\"case\" patterns ('if' named)? NEWLINE #noColon"
     " | a:\"case\" patterns ('if' named)? ':' NEWLINE !INDENT #noBlockAfter"},
    {"patterns", "open_sequence | pattern"},
    {"pattern", "as_pattern | or_pattern"},
    {"as_pattern", "or_pattern 'as' capture | bad_as_pattern"},
    {"bad_as_pattern", "or_pattern 'as' a:\"_\" #wildcardTarget"
                       " | or_pattern 'as' !NAME a:expression #patternTarget"},
    {"or_pattern", "closed_pattern % '|'"},
    {"closed_pattern*",
     "literal_key | capture | \"_\" | attribute !('.' | '(' | '=')"
     " | '(' pattern ')' | '[' pattern_list? ']' | '(' open_sequence? ')'"
     " | mapping_pattern | class_pattern"},
    {"literal_key",
     "signed_number !('+' | '-') | signed_number ('+' | '-') NUMBER | STRINGS"
     " | 'None' | 'True' | 'False'"},
    {"signed_number", "NUMBER | '-' NUMBER"},
    {"capture", "!\"_\" NAME !('.' | '(' | '=')"},
    {"attribute", "NAME ('.' NAME)+"},
    {"open_sequence", "star_pattern_or_pattern ',' pattern_list?"},
    {"pattern_list", "star_pattern_or_pattern % ',' ','?"},
    {"star_pattern_or_pattern", "star_pattern | pattern"},
    {"star_pattern*", "'*' capture | '*' \"_\""},
    {"mapping_pattern", "'{' '}' | '{' '**' capture ','? '}'"
                        " | '{' mapping_items ',' '**' capture ','? '}'"
                        " | '{' mapping_items ','? '}'"},
    {"mapping_items", "((literal_key | attribute) ':' pattern) % ','"},
    {"class_pattern",
     "class_name '(' ')' | class_name '(' pattern % ',' ','? ')'"
     " | class_name '(' keyword_patterns ','? ')'"
     " | class_name '(' pattern % ',' ',' keyword_patterns ','? ')'"
     " | bad_class_pattern"},
    {"class_name", "NAME ('.' NAME)*"},
    {"keyword_patterns", "(NAME '=' pattern) % ','"},
    {"positional_patterns", "pattern % ','"},
    {"bad_class_pattern",
     "class_name '(' (positional_patterns ',')? keyword_patterns ','"
     " a:positional_patterns #positionalPattern"},

    // Parameters of functions.
    {"parameters", "bad_parameters | parameter_list"},
    {"parameter_list",
     "slash_plain plain* defaulted* star_etc?"
     " | slash_defaulted defaulted* star_etc?"
     " | plain+ defaulted* star_etc? | defaulted+ star_etc? | star_etc"},
    {"slash_plain", "plain+ '/' ',' | plain+ '/' &')'"},
    {"slash_defaulted",
     "plain* defaulted+ '/' ',' | plain* defaulted+ '/' &')'"},
    {"star_etc", "bad_star_etc | '*' plain either* kwargs_parameter?"
                 " | '*' plain_star_annotation either* kwargs_parameter?"
                 " | '*' ',' either+ kwargs_parameter? | kwargs_parameter"},
    {"kwargs_parameter", "bad_kwargs_parameter | '**' plain"},
    {"plain", "parameter ',' | parameter &')'"},
    {"plain_star_annotation",
     "NAME ':' star_expression ',' | NAME ':' star_expression &')'"},
    {"defaulted", "parameter default ',' | parameter default &')'"},
    {"either", "parameter default? ',' | parameter default? &')'"},
    {"parameter", "NAME (':' expression)?"},
    {"default", "'=' expression | bad_default"},
    {"bad_default", "a:'=' &(')' | ',') #noDefault"},
    {"bad_parameters",
     "plain* (slash_defaulted | defaulted+) a:plain #plainAfterDefault"
     " | plain* a:'(' plain+ ','? b:')' #parameterParentheses"
     " | a:'/' ',' #nothingBeforeSlash"
     " | (slash_plain | slash_defaulted) either* a:'/' #secondSlash"
     " | (slash_plain | slash_defaulted)? either* '*' (',' | plain) either*"
     " a:'/' #slashAfterStar"
     " | either+ '/' a:'*' #commaAfterSlash"},
    {"bad_star_etc",
     "a:'*' (')' | ',' (')' | '**')) #nothingAfterStar"
     " | '*' parameter a:'=' #starDefault"
     " | '*' (plain | ',') either* a:'*' (plain | ',') #secondStar"},
    {"bad_kwargs_parameter",
     "'**' parameter a:'=' #doubleStarDefault"
     " | '**' parameter ',' a:parameter #afterDoubleStar"
     " | '**' parameter ',' a:('*' | '**' | '/') #afterDoubleStar"},
    {nullptr, nullptr}};

const RuleText expressionRules[] = {
    {"eval", "expressions NEWLINE* END"},
    {"expressions", "expression (',' expression)* ','?"},
    {"expression*",
     "bad_expression | bad_legacy | disjunction 'if' disjunction 'else'"
     " expression | disjunction | lambda"},
    {"quiet_expression",
     "disjunction 'if' disjunction 'else' expression | disjunction | lambda"},
    {"bad_expression",
     "!(NAME STRING | SOFT) a:disjunction b:(quietly quiet_expression)"
     " #noComma"
     " | a:disjunction 'if' b:disjunction !('else' | ':') #noElse"},
    {"bad_legacy", "a:NAME !'(' b:star_expressions #printStatement"},
    {"yield", "'yield' 'from' expression | 'yield' star_expressions?"},
    {"star_expressions", "star_expression (',' star_expression)* ','?"},
    {"star_expression*", "'*' bitwise_or | expression"},
    {"star_named_list", "star_named % ',' ','?"},
    {"star_named", "'*' bitwise_or | named"},
    {"walrus", "NAME ':=' ~ expression"},
    {"named", "walrus | bad_named | expression !':='"},
    {"bad_named*",
     "a:expression ':=' expression #walrusTarget"
     " | a:NAME '=' b:bitwise_or !('=' | ':=') #assignInExpression"
     " | !(list | tuple | genexp | 'True' | 'None' | 'False') a:bitwise_or"
     " '=' bitwise_or !('=' | ':=') #assignHere"},

    // Operators.
    {"disjunction*", "conjunction ('or' conjunction)*"},
    {"conjunction*", "inversion ('and' inversion)*"},
    {"inversion*", "'not' inversion | comparison"},
    {"comparison", "bitwise_or (comparison_operator bitwise_or)*"},
    {"comparison_operator",
     "'==' | NOT_EQUAL | '<=' | '<' | '>=' | '>' | 'not' 'in' | 'in'"
     " | 'is' 'not' | 'is'"},
    {"bitwise_or*", "factor (binary_operator factor)*"},
    {"binary_operator",
     "'|' | '^' | '&' | '<<' | '>>' | '+' | '-' | '*' | '/' | '//' | '%'"
     " | '@'"},
    {"factor*",
     "('+' | '-' | '~') factor | await_primary '**' factor | await_primary"},
    {"await_primary*", "'await' primary | primary"},

    // Primaries.
    {"primary*",
     "atom ('.' NAME | genexp | '(' arguments? ')' | '[' slices ']')*"},
    {"slices", "slice !',' | (slice | starred) % ',' ','?"},
    {"slice", "expression? ':' expression? (':' expression?)? | named"},
    {"starred", "'*' expression"},
    {"atom", "NAME | 'True' | 'False' | 'None' | &STRING STRINGS | NUMBER"
             " | &'(' (tuple | group | genexp) | &'[' (list | listcomp)"
             " | &'{' (dict | set | dictcomp | setcomp) | '...'"},
    {"group", "'(' (yield | named) ')' | bad_group"},
    {"bad_group", "'(' a:starred ')' #starredGroup"
                  " | '(' a:'**' expression ')' #doubleStarredGroup"},
    {"list", "'[' star_named_list? ']'"},
    {"tuple", "'(' (star_named ',' star_named_list?)? ')'"},
    {"set", "'{' star_named_list '}'"},
    {"dict", "'{' (pair % ',' ','?)? '}' | '{' bad_pairs '}'"},
    {"pair", "'**' bitwise_or | key_value"},
    {"key_value", "expression ':' expression"},
    {"bad_pairs", "pair % ',' ',' bad_pair"
                  " | expression ':' a:'*' bitwise_or #starredValue"
                  " | expression a:':' &('}' | ',') #noValue"},
    {"bad_pair", "a:expression !':' #noKeyColon"
                 " | expression ':' a:'*' bitwise_or #starredValue"
                 " | expression a:':' &('}' | ',') #noValue"},

    // Comprehensions.
    {"clauses", "clause+"},
    {"clause",
     "'async' 'for' star_targets 'in' ~ disjunction ('if' disjunction)*"
     " | 'for' star_targets 'in' ~ disjunction ('if' disjunction)*"
     " | bad_for_target"},
    {"listcomp", "'[' named clauses ']' | bad_comprehension"},
    {"setcomp", "'{' named clauses '}' | bad_comprehension"},
    {"genexp",
     "'(' (walrus | expression !':=') clauses ')' | bad_comprehension"},
    {"dictcomp", "'{' key_value clauses '}' | bad_dictcomp"},
    {"bad_comprehension",
     "('[' | '(' | '{') a:starred clauses #starredComprehension"
     " | ('[' | '{') a:star_named ',' b:star_named_list clauses #bareTuple"
     " | ('[' | '{') a:star_named b:',' clauses #bareTuple"},
    {"bad_dictcomp",
     "'{' a:'**' bitwise_or clauses '}' #doubleStarredComprehension"},

    // Arguments of calls.
    {"arguments*", "args ','? &')' | bad_arguments"},
    {"args", "(starred | (walrus | expression !':=') !'=') % ',' (',' kwargs)?"
             " | kwargs"},
    {"kwargs", "kwarg_or_starred % ',' ',' kwarg_or_double_starred % ','"
               " | kwarg_or_starred % ',' | kwarg_or_double_starred % ','"},
    {"kwarg_or_starred", "bad_kwarg | NAME '=' expression | starred"},
    {"kwarg_or_double_starred",
     "bad_kwarg | NAME '=' expression | '**' expression"},
    {"bad_arguments",
     "((starred | (walrus | expression !':=') !'=') % ',' ',' kwargs | kwargs)"
     " ',' a:'*' #starAfterDoubleStar"
     " | a:expression b:clauses ',' (args | expression clauses)?"
     " #bareGenerator"
     " | a:NAME b:'=' expression clauses #keywordGenerator"
     " | a:args b:clauses #generatorAfterArguments"
     " | args ',' a:expression b:clauses #bareGenerator"
     " | a:args ',' args #positionalAfterKeyword"},
    {"bad_kwarg", "a:('True' | 'False' | 'None') b:'=' #keywordConstant"
                  " | a:NAME b:'=' expression clauses #keywordGenerator"
                  " | !(NAME '=') a:expression b:'=' #keywordExpression"},

    // Targets.
    {"star_targets", "star_target !',' | star_target (',' star_target)* ','?"},
    {"star_target*", "'*' !'*' star_target | target"},
    {"target*",
     "inner_primary '.' NAME !more | inner_primary '[' slices ']' !more"
     " | star_atom"},
    {"star_atom",
     "NAME | '(' target ')'"
     " | '(' (star_target (',' star_target)+ ','? | star_target ',')? ')'"
     " | '[' (star_target % ',' ','?)? ']'"},
    {"single_target", "member_target | NAME | '(' single_target ')'"},
    {"member_target",
     "inner_primary '.' NAME !more | inner_primary '[' slices ']' !more"},
    {"inner_primary*",
     "atom &more ('.' NAME &more | '[' slices ']' &more | genexp &more"
     " | '(' arguments? ')' &more)*"},
    {"more", "'(' | '[' | '.'"},
    {"del_targets", "del_target % ',' ','?"},
    {"del_target*",
     "inner_primary '.' NAME !more | inner_primary '[' slices ']' !more"
     " | del_atom"},
    {"del_atom",
     "NAME | '(' del_target ')' | '(' del_targets? ')' | '[' del_targets?"
     " ']'"},

    // Lambda.
    {"lambda", "'lambda' lambda_parameters? ':' expression"},
    {"lambda_parameters", "bad_l_parameters | l_list"},
    {"l_list", "l_slash_plain l_plain* l_defaulted* l_star_etc?"
               " | l_slash_defaulted l_defaulted* l_star_etc?"
               " | l_plain+ l_defaulted* l_star_etc? | l_defaulted+ l_star_etc?"
               " | l_star_etc"},
    {"l_slash_plain", "l_plain+ '/' ',' | l_plain+ '/' &':'"},
    {"l_slash_defaulted",
     "l_plain* l_defaulted+ '/' ',' | l_plain* l_defaulted+ '/' &':'"},
    {"l_star_etc", "bad_l_star_etc | '*' l_plain l_either* l_kwargs?"
                   " | '*' ',' l_either+ l_kwargs? | l_kwargs"},
    {"l_kwargs", "bad_l_kwargs | '**' l_plain"},
    {"l_plain", "NAME ',' | NAME &':'"},
    {"l_defaulted", "NAME default ',' | NAME default &':'"},
    {"l_either", "NAME default? ',' | NAME default? &':'"},
    {"bad_l_parameters",
     "l_plain* (l_slash_defaulted | l_defaulted+) a:l_plain"
     " #plainAfterDefault"
     " | l_plain* a:'(' NAME % ',' ','? b:')' #parameterParentheses"
     " | a:'/' ',' #nothingBeforeSlash"
     " | (l_slash_plain | l_slash_defaulted) l_either* a:'/' #secondSlash"
     " | (l_slash_plain | l_slash_defaulted)? l_either* '*' (',' | l_plain)"
     " l_either* a:'/' #slashAfterStar"
     " | l_either+ '/' a:'*' #commaAfterSlash"},
    {"bad_l_star_etc",
     "a:'*' (':' | ',' (':' | '**')) #nothingAfterStarLast"
     " | '*' NAME a:'=' #starDefault"
     " | '*' (l_plain | ',') l_either* a:'*' (l_plain | ',') #secondStar"},
    {"bad_l_kwargs", "'**' NAME a:'=' #doubleStarDefault"
                     " | '**' NAME ',' a:NAME #afterDoubleStar"
                     " | '**' NAME ',' a:('*' | '**' | '/') #afterDoubleStar"},
    {nullptr, nullptr}};

} // namespace nereid::syntax
