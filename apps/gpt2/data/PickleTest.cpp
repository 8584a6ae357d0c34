//===- PickleTest.cpp -----------------------------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pickles are written out as pickletools.dis shows them; those of Python itself
// are read in test/nanogpt_peer.py.
//
//===----------------------------------------------------------------------===//

#include "apps/gpt2/data/Pickle.h"

#include "nereid/Weights/Testing.h"

#include <gmock/gmock.h>
#include <random>

using namespace nereid;
using namespace nereid::gpt2;
using Kind = PickleValue::Kind;
using ::testing::AllOf;
using ::testing::HasSubstr;

static const std::string begin = "\x80\x02";

/// Bytes with zeros in them.
template <size_t N>
static std::string bytes(const char (&text)[N]) {
  return {text, N - 1};
}

static std::string refusal(const std::string &text) {
  static constexpr std::string_view known[] = {"collections.OrderedDict",
                                               "torch.Size"};
  return errorOf([&] { Pickle pickle(text, "x.pkl", known); });
}

static std::string number(uint64_t value, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += char(value >> 8 * i & 255);
  }
  return text;
}

TEST(Pickle, readsPlainData) {
  // {'a': [1, -2, 300, 70000, 2.5, True, None], 'b': ('x', b'y'), 7: {}}
  Pickle pickle(begin +
                    bytes("}(X\x01\x00\x00\x00"
                          "a](K\x01J\xfe\xff\xff\xffM\x2c\x01J\x70\x11\x01\x00"
                          "G\x40\x04\x00\x00\x00\x00\x00\x00\x88NeX\x01\x00\x00"
                          "\x00"
                          "bX\x01\x00\x00\x00xC\x01y\x86K\x07}u."),
                "x.pkl");
  const PickleValue *a = pickle.value().find("a"),
                    *b = pickle.value().find("b");
  ASSERT_TRUE(a && b);
  ASSERT_EQ(a->items.size(), 7u);
  EXPECT_EQ(a->items[0]->integer, 1);
  EXPECT_EQ(a->items[1]->integer, -2);
  EXPECT_EQ(a->items[2]->integer, 300);
  EXPECT_EQ(a->items[3]->integer, 70000);
  EXPECT_EQ(a->items[4]->asNumber(), 2.5);
  EXPECT_TRUE(a->items[5]->is(Kind::Bool) && a->items[5]->integer);
  EXPECT_TRUE(a->items[6]->is(Kind::None));
  EXPECT_TRUE(b->is(Kind::Tuple));
  EXPECT_EQ(b->items[0]->text, "x");
  EXPECT_TRUE(b->items[1]->is(Kind::Bytes));
  EXPECT_EQ(pickle.value().find("c"), nullptr);
}

TEST(Pickle, theLastOfEqualKeysCounts) {
  Pickle pickle(begin + bytes("}(X\x01\x00\x00\x00"
                              "aK\x01X\x01\x00\x00\x00"
                              "aK\x02u."),
                "x.pkl");
  EXPECT_EQ(pickle.value().find("a")->integer, 2);
}

TEST(Pickle, notedValuesAreTheSame) {
  // [[], []] with both the same list, by BINPUT and MEMOIZE.
  for (const char *put : {"q", "\x94"}) {
    std::string note = *put == 'q' ? bytes("q\x00") : put;
    Pickle pickle(begin + "](]" + note + bytes("h\x00") + "e.", "x.pkl");
    ASSERT_EQ(pickle.value().items.size(), 2u);
    EXPECT_EQ(pickle.value().items[0], pickle.value().items[1]);
  }
}

TEST(Pickle, anOrderedDictIsADictionaryAndItsAttributesAreLeftOut) {
  static constexpr std::string_view known[] = {"collections.OrderedDict"};
  Pickle pickle(begin + bytes("ccollections\nOrderedDict\n)RX\x01\x00\x00\x00"
                              "aK\x01s}b."),
                "x.pkl", known);
  EXPECT_TRUE(pickle.value().is(Kind::Dict));
  EXPECT_EQ(pickle.value().find("a")->integer, 1);
}

TEST(Pickle, aCallBecomesAValue) {
  static constexpr std::string_view known[] = {"torch.Size"};
  Pickle pickle(begin + bytes("ctorch\nSize\nK\x05\x85R."), "x.pkl", known);
  const PickleValue *arguments = pickle.value().argumentsOf("torch.Size");
  ASSERT_TRUE(arguments);
  EXPECT_EQ(arguments->items[0]->integer, 5);
  EXPECT_EQ(pickle.value().argumentsOf("torch.device"), nullptr);
}

TEST(Pickle, refusesNamesThatAreNotInTheList) {
  // os.system("true"), as GLOBAL and as STACK_GLOBAL.
  EXPECT_THAT(refusal(begin + bytes("cposix\nsystem\nX\x04\x00\x00\x00true"
                                    "\x85R.")),
              AllOf(HasSubstr("x.pkl"), HasSubstr("byte 2"),
                    HasSubstr("'posix.system'")));
  EXPECT_THAT(refusal(bytes("\x80\x04\x8c\x08"
                            "builtins\x8c\x04"
                            "eval\x93X\x01\x00\x00\x00"
                            "1\x85R.")),
              HasSubstr("'builtins.eval'"));
  // A name of the list is no prefix: "torch" and "Size.__class__".
  EXPECT_THAT(refusal(begin + "ctorch\nSize.__class__\n."),
              HasSubstr("'torch.Size.__class__'"));
}

TEST(Pickle, refusesOtherInstructions) {
  // INST, OBJ, EXT1, NEWOBJ_EX, PERSID, and texts of protocol 0.
  for (const char *code : {"i", "o", "\x82", "\x92", "P", "I1\n", "S'a'\n"}) {
    EXPECT_THAT(refusal(begin + "(" + code), HasSubstr("instruction"));
  }
}

TEST(Pickle, refusesWhatHoldsItself) {
  EXPECT_THAT(refusal(begin + bytes("]q\x00h\x00"
                                    "a.")),
              HasSubstr("holds itself"));
  // Through a tuple and a dictionary.
  EXPECT_THAT(refusal(begin + bytes("}q\x00K\x01h\x00\x85s.")),
              HasSubstr("holds itself"));
}

TEST(Pickle, refusesDeepNesting) {
  std::string lists(100000, ']');
  EXPECT_THAT(refusal(begin + lists + std::string(99999, 'a') + "."),
              HasSubstr("more than 64 deep"));
  // Noted parts count as deep as they are: 40 lists in a list of 40.
  std::string forty = std::string(40, ']') + std::string(39, 'a');
  EXPECT_THAT(refusal(begin + "(" + forty + bytes("q\x00") +
                      std::string(39, ']') + bytes("h\x00") +
                      std::string(39, 'a') + "t."),
              HasSubstr("more than 64 deep"));
}

TEST(Pickle, refusesWhatWouldBeHugeIfWrittenOut) {
  // Each list holds the one before ten times: 10^12 parts in 500 bytes.
  std::string text = begin + bytes("]q\x00");
  for (int i = 0; i < 12; ++i) {
    text += "](";
    for (int k = 0; k < 10; ++k) {
      text += "h" + number(uint64_t(i), 1);
    }
    text += "eq" + number(uint64_t(i) + 1, 1);
  }
  EXPECT_THAT(refusal(text + "(" + "h\x0c" + "t."), HasSubstr("end, got"));
  std::string one = begin + "(" + text.substr(2) + "t.";
  EXPECT_THAT(refusal(one), HasSubstr("again and again"));
}

TEST(Pickle, refusesSizesBeyondTheFile) {
  EXPECT_THAT(refusal(begin + "X" + number(4000000000, 4) + "a."),
              AllOf(HasSubstr("cut off"), HasSubstr("4000000000")));
  EXPECT_THAT(refusal(begin + "\x8d" + number(~uint64_t{0}, 8) + "a."),
              HasSubstr("cut off"));
  EXPECT_THAT(refusal(begin + "\x8b" + number(2000000000, 4) + "a."),
              HasSubstr("cut off"));
  EXPECT_THAT(refusal(begin + "\x8a\x09" + std::string(9, 'a') + "."),
              HasSubstr("at most 8 bytes"));
}

TEST(Pickle, refusesDamage) {
  EXPECT_THAT(refusal(""), HasSubstr("protocol 2 or later"));
  EXPECT_THAT(refusal("(lp0\n."), HasSubstr("protocol 2 or later"));
  EXPECT_THAT(refusal("\x80\x07N."), HasSubstr("protocol 2 to 5"));
  EXPECT_THAT(refusal(begin), HasSubstr("cut off"));
  EXPECT_THAT(refusal(begin + "."), HasSubstr("on the stack, got none"));
  EXPECT_THAT(refusal(begin + "NN."), HasSubstr("got several"));
  EXPECT_THAT(refusal(begin + "(N."), HasSubstr("got several"));
  EXPECT_THAT(refusal(begin + "N.N"), HasSubstr("1 more bytes"));
  EXPECT_THAT(refusal(begin + "t."), HasSubstr("expected a mark"));
  EXPECT_THAT(refusal(begin + "Na."), HasSubstr("on the stack, got none"));
  EXPECT_THAT(refusal(begin + "NNa."), HasSubstr("a list, got None"));
  EXPECT_THAT(refusal(begin + "}(Nu."), HasSubstr("a key without a value"));
  EXPECT_THAT(refusal(begin + "}]Ns."), HasSubstr("expected a key"));
  EXPECT_THAT(refusal(begin + bytes("h\x05.")),
              HasSubstr("number 5, got none"));
  EXPECT_THAT(refusal(begin + bytes("X\x01\x00\x00\x00\xff.")),
              HasSubstr("UTF-8"));
  EXPECT_THAT(refusal(begin + "N)R."), HasSubstr("a name that is called"));
  EXPECT_THAT(refusal(begin + "ctorch\nSize\nNR."),
              HasSubstr("tuple of arguments"));
  EXPECT_THAT(refusal(begin + "ctorch"), HasSubstr("end of a line"));
  EXPECT_THAT(refusal(begin + "N}b."), HasSubstr("which has attributes"));
  EXPECT_THAT(refusal(begin + bytes("ccollections\nOrderedDict\nK\x01\x85R.")),
              HasSubstr("OrderedDict without arguments"));
}

TEST(Pickle, anyBytesAreReadOrRefused) {
  std::mt19937 draw(7);
  const std::string codes = "().0125NKMJGXCTBQRbacdehjqrstuvl]}"
                            "\x80\x81\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8d\x8e"
                            "\x8f\x90\x91\x93\x94\x95\x96";
  int taken = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = begin;
    for (size_t k = draw() % 40; k > 0; --k) {
      text += draw() % 4 ? codes[draw() % codes.size()] : char(draw() % 4);
    }
    text += ".";
    std::string why = refusal(text);
    taken += why.empty();
    EXPECT_THAT(why, ::testing::Not(HasSubstr("internal")));
  }
  EXPECT_GT(taken, 50);
}
