//===- TuneCommandTest.cpp - nereid tune ----------------------------------===//
//
// Part of Nereid, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/nereid/CommandFixture.h"

#include <nlohmann/json.hpp>
#include <pty.h>
#include <sstream>
#include <unistd.h>

using namespace nereid;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

namespace {

constexpr const char *kernels = R"(import triton
import triton.language as tl


def configs(pairs):
    return [triton.Config({'BLOCK': b, 'KIND': k}, num_warps=4) for b, k in pairs]


@triton.autotune(configs=configs([(64, 0), (128, 0), (256, 0)]), key=['n'])
@triton.jit
def good(x, y, flag, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2 + 1, mask=i < n)


@triton.autotune(configs=configs([(64, 0), (64, 1), (128, 0), (256, 3), (512, 0), (65536, 4)]), key=['n'])
@triton.jit
def faulty(x, y, flag, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == 1:
        tl.store(y + i + (1 << 34), 1.0)
    v = tl.load(x + i, mask=i < n)
    if KIND == 3:  # the last element is wrong
        v = tl.where(i == n - 1, v + 1, v)
    if KIND == 4:  # all of it goes through shared memory at once
        rows = tl.reshape(tl.arange(0, BLOCK) // 256, (256, 256))
        v = tl.reshape(tl.gather(tl.reshape(v, (256, 256)), rows, 0), (BLOCK,))
    tl.store(y + i, v * 2 + 1, mask=i < n)


@triton.autotune(configs=configs([(64, 0), (128, 2)]), key=['n'])
@triton.jit
def hanging(x, y, flag, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == 2:
        while tl.atomic_add(flag, 0) == 0:
            pass
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.autotune(configs=configs([(64, 2), (128, 2)]), key=['n'])
@triton.jit
def hopeless(x, y, flag, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    tl.static_assert(KIND == 0, "never")


@triton.jit
def softmax(y, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + row * stride + c, e / tl.sum(e, axis=0), mask=c < n)
)";

class TuneCommand : public Command {
protected:
  void SetUp() override {
    Command::SetUp();
    ASSERT_TRUE(writeFileAtomically(root + "/t.py", kernels).ok());
  }
  static std::string arguments(const std::string &kernel) {
    return "t.py:" + kernel +
           " 'x=randn:f32[5000]' 'y=zeros:f32[5000]' 'flag=zeros:i32[1]' "
           "n=5000 --grid 'cdiv(n, BLOCK)' ";
  }
  /// Which of several right configurations is the fastest is no matter here.
  static std::string launch(const std::string &kernel) {
    return "tune --rounds 2 " + arguments(kernel);
  }
  Json json(const std::string &name) {
    return Json::parse(*readFile(root + "/" + name));
  }
  /// state by "BLOCK/KIND".
  static std::map<std::string, std::string> states(const Json &record) {
    std::map<std::string, std::string> result;
    for (const Json &trial : record["trials"]) {
      const Json &config = trial["config"];
      result[config["BLOCK"].dump() + "/" + config["KIND"].dump()] =
          trial["state"];
    }
    return result;
  }
  /// Names left in the folder of choices, without what is kept for good.
  std::vector<std::string> leftovers() {
    std::vector<std::string> names;
    for (auto &entry :
         std::filesystem::directory_iterator(root + "/cache/tuned")) {
      if (entry.path().extension() != ".json") {
        names.push_back(entry.path().filename());
      }
    }
    return names;
  }
};

} // namespace

TEST_F(TuneCommand, ChoosesAndKeeps) {
  // In as many rounds as it takes.
  CommandResult first = run("tune " + arguments("good") + "--json r.json");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("3 configurations"));
  EXPECT_FALSE(json("r.json")["found"]);
  CommandResult second = run(launch("good") + "--json s.json");
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.out, HasSubstr("kept before, found in"));
  EXPECT_EQ(json("r.json")["config"], json("s.json")["config"]);
  // Another key, and the same one again on demand.
  EXPECT_THAT(run(launch("good") + "--again").out, Not(HasSubstr("kept")));
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(TuneCommand, AnOrdinaryLaunchFindsTheChoice) {
  ASSERT_EQ(run(launch("good")).code, 0);
  CommandResult ran =
      run("run t.py:good 'x=randn:f32[5000]' 'y=zeros:f32[5000]' "
          "'flag=zeros:i32[1]' n=5000 --grid 'cdiv(n, BLOCK)'",
          "NEREID_LOG=tune");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.err, Not(HasSubstr("ms"))) << "nothing is measured";
}

/// No load of the machine makes a trial that ends look hung.
static const std::string patiently = "--limit 3600 ";

TEST_F(TuneCommand, GoesOnAfterFaultsOnTheCpu) {
  CommandResult tuned = run(launch("faulty") + patiently + "--json r.json");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  Json record = json("r.json");
  EXPECT_EQ(record["config"]["KIND"], 0);
  auto state = states(record);
  EXPECT_EQ(state["64/1"], "faulted");
  EXPECT_EQ(state["256/3"], "suspect");
  EXPECT_EQ(state["64/0"], "measured");
  EXPECT_TRUE(leftovers().empty());
}

/// A mistake in a launch is reported once, and never again of a launch without
/// it.
TEST_F(TuneCommand, AMistakeInTheLaunchIsForgotten) {
  std::string right = arguments("good");
  auto with = [&](const std::string &from, const std::string &to) {
    std::string wrong = right;
    return wrong.replace(wrong.find(from), from.size(), to);
  };
  for (const auto &[wrong, message] :
       {std::pair(with("cdiv(n, BLOCK)", "cdiv(n, BLOK)"),
                  "the name 'BLOK' is not defined"),
        std::pair(with("randn:f32[5000]", "randn:f32[10]"),
                  "which is fp32[10]")}) {
    for (const char *command : {"tune ", "run "}) {
      std::string launch = command + wrong;
      CommandResult failed = run(launch);
      EXPECT_NE(failed.code, 0) << launch;
      EXPECT_THAT(failed.err, HasSubstr(message)) << launch;
      EXPECT_TRUE(leftovers().empty()) << launch;
    }
    CommandResult tuned = run(launch("good") + "--again");
    EXPECT_EQ(tuned.code, 0) << tuned.err;
    std::filesystem::remove_all(root + "/cache");
    std::filesystem::create_directories(root + "/cache/tuned");
  }
}

/// What the supervisor decides, and when, is SupervisorTest's; here only that
/// the command hands its limit on. A slow machine may find the other trial
/// hung, too: then there is nothing to choose.
TEST_F(TuneCommand, ATrialThatHangsIsEndedAtTheLimit) {
  CommandResult tuned = run(launch("hanging") + "--limit 2 --export t.json");
  if (tuned.code == 0) {
    EXPECT_EQ(states(json("t.json")["tuned"][0])["128/2"], "hung");
  }
  EXPECT_THAT(tuned.out + tuned.err, HasSubstr("did not end within 2 s"));
}

TEST_F(TuneCommand, GoesOnAfterFaultsOnAGpu) {
  CommandResult tuned =
      run(launch("faulty") + patiently + "--device cuda:0 --json r.json",
          "NEREID_CUDA_DRIVER=simulator");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  Json record = json("r.json");
  EXPECT_EQ(record["config"]["KIND"], 0);
  auto state = states(record);
  EXPECT_EQ(state["64/1"], "faulted"); // with the context
  EXPECT_EQ(state["256/3"], "suspect");
  EXPECT_EQ(state["65536/4"], "too large");
  EXPECT_THAT(record["device"], HasSubstr("sm_90"));
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(TuneCommand, GoesOnWhereNothingIsKept) {
  CommandResult tuned = run(launch("faulty") + patiently + "--json r.json",
                            "NEREID_CACHE_SIZE=0");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_EQ(states(json("r.json"))["64/1"], "faulted");
  EXPECT_THAT(run(launch("good"), "NEREID_CACHE_SIZE=0").out,
              Not(HasSubstr("kept")));
}

TEST_F(TuneCommand, WorksWithoutATemporaryFolder) {
  std::string nowhere = "TMPDIR=" + root + "/missing";
  CommandResult tuned = run(launch("good"), nowhere);
  EXPECT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_THAT(tuned.err, Not(HasSubstr("internal error")));
}

TEST_F(TuneCommand, SearchesWithoutAList) {
  CommandResult tuned =
      run("tune t.py:softmax 'x=randn:f32[64,1000]' 'y=zeros:f32[64,1000]' "
          "stride=1000 n=1000 --grid 64 --search --seconds 600 --rounds 2 "
          "--values BLOCK=256,1024,4096 --json r.json");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  // A block of 256 leaves columns out. Which of the others is the fastest is
  // for a quiet machine to say. The search ends when the best have no
  // neighbours that are new, long before its time is over.
  EXPECT_GE(json("r.json")["config"]["BLOCK"], 1024);
  EXPECT_EQ(json("r.json")["candidates"], "search");
  CommandResult given = run(
      "tune t.py:softmax 'x=randn:f32[64,1000]' 'y=zeros:f32[64,1000]' "
      "stride=1000 n=1000 --grid 64 --search --seconds 600 --rounds 2 --again "
      "--values BLOCK=2048,4096 --json r.json");
  ASSERT_EQ(given.code, 0) << given.err;
  EXPECT_GE(json("r.json")["config"]["BLOCK"], 2048);
}

TEST_F(TuneCommand, SixteenProcessesDoTheWorkOnce) {
  std::string one = launch("good") + "> out$i 2>&1";
  std::string all = "for i in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do "
                    "NEREID_CACHE_DIR=" +
                    root + "/cache " NEREID_BINARY " " + one + " & done; wait";
  ASSERT_EQ(std::system(("cd " + root + " && " + all).c_str()), 0);
  int tuned = 0;
  std::set<std::string> choices;
  for (char i : std::string("0123456789abcdef")) {
    std::string out = *readFile(root + "/out" + i);
    tuned += out.find("configurations in") != std::string::npos;
    EXPECT_THAT(out, HasSubstr("good on cpu"));
    choices.insert(out.substr(0, out.find(" ms")));
  }
  EXPECT_EQ(tuned, 1);
  EXPECT_EQ(choices.size(), 1u);
  EXPECT_TRUE(leftovers().empty());
}

TEST_F(TuneCommand, KilledProcessesLeaveNothingTorn) {
  ASSERT_EQ(run(launch("good") + "--json kept.json").code, 0);
  std::string environment = "cd " + root + " && NEREID_CACHE_DIR=" + root +
                            "/cache " NEREID_BINARY " ";
  // From the start of the process to the end of its work.
  for (int ms = 20; ms < 600; ms += 90) {
    std::string wait = std::to_string(ms / 1e3);
    (void)!std::system((environment + launch("good") +
                        "--again > /dev/null 2>&1 & sleep " + wait +
                        "; kill -9 $! 2> /dev/null; wait")
                           .c_str());
    CommandResult found = run(launch("good"));
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_THAT(found.out, HasSubstr("kept before"));
  }
  CommandResult tuned = run(launch("faulty") + patiently);
  EXPECT_EQ(tuned.code, 0) << tuned.err;
}

TEST_F(TuneCommand, ExportsAndImports) {
  ASSERT_EQ(run(launch("good") + "--export tuned.json").code, 0);
  ASSERT_EQ(run(launch("faulty") + patiently + "--export tuned.json").code, 0);
  EXPECT_EQ(json("tuned.json")["tuned"].size(), 2u);
  CommandResult all = run("tune --export all.json");
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(json("all.json")["tuned"].size(), 2u);
  std::filesystem::remove_all(root + "/cache");
  CommandResult imported = run("tune --import tuned.json");
  EXPECT_EQ(imported.out, "imported 2 choices\n");
  EXPECT_THAT(run(launch("good")).out, HasSubstr("kept before"));
}

TEST_F(TuneCommand, CountsAndMarks) {
  ASSERT_TRUE(writeFileAtomically(root + "/m.py", R"(import triton
import triton.language as tl


def early(configs, named_args, **kwargs):
    return configs[-1:]


@triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_warps=w)
                          for w in (1, 2, 4)], key=['n'])
@triton.jit
def twins(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, i, mask=i < n)


@triton.autotune(configs=[triton.Config({'BLOCK': b}) for b in (64, 128)],
                 key=['n'], prune_configs_by={'early_config_prune': early})
@triton.jit
def pruned(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, i, mask=i < n)


@triton.autotune(configs=[triton.Config({'BLOCK': b}) for b in (64, 128)],
                 key=['n'], prune_configs_by={'perf_model': early, 'top_k': 2.5})
@triton.jit
def wrong(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, i, mask=i < n)
)")
                  .ok());
  std::string rest =
      " x=zeros:i32[500] n=500 --grid 'cdiv(n, BLOCK)' --rounds 2";
  CommandResult twins = run("tune m.py:twins" + rest);
  EXPECT_EQ(twins.code, 0) << twins.err;
  EXPECT_THAT(twins.out, HasSubstr("; 1 configuration in "));
  EXPECT_THAT(twins.out, HasSubstr("2 others have the same code as one"));
  EXPECT_THAT(twins.out, HasSubstr("\n* "));
  CommandResult pruned = run("tune m.py:pruned" + rest);
  EXPECT_EQ(pruned.code, 0) << pruned.err;
  EXPECT_THAT(pruned.out, HasSubstr("pruned on cpu: BLOCK=128"));
  CommandResult wrong = run("tune m.py:wrong" + rest);
  EXPECT_NE(wrong.code, 0);
  EXPECT_THAT(wrong.err, HasSubstr("top_k is"));
  EXPECT_THAT(wrong.err,
              HasSubstr("an int from 1, or a float from 0.0 to 1.0"));
  CommandResult nothing =
      run("tune t.py:softmax 'x=randn:f32[64,1000]' 'y=zeros:f32[64,1000]' "
          "stride=1000 n=1000 --grid 64 --search BLOCK=1024");
  EXPECT_EQ(nothing.code, 0) << nothing.err;
  EXPECT_THAT(nothing.out, HasSubstr("nothing was left to search"));
  EXPECT_THAT(nothing.out, HasSubstr("code for the cpu has no warps"));
}

//===----------------------------------------------------------------------===//
// On a terminal
//===----------------------------------------------------------------------===//

namespace {
class TuneTerminal : public TuneCommand {
protected:
  /// What the terminal shows. When it has shown `until`, `keys` are typed.
  std::pair<int, std::string> type(const std::string &arguments,
                                   unsigned short columns,
                                   const std::string &term,
                                   const std::string &until = "",
                                   const std::string &keys = "") {
    winsize size = {24, columns, 0, 0};
    int terminal = -1;
    std::string command = "cd " + root + " && TERM=" + term +
                          " NEREID_CACHE_DIR=" + root +
                          "/cache exec " NEREID_BINARY " " + arguments;
    pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    std::string shown;
    char buffer[4096];
    bool isTyped = until.empty();
    for (ssize_t n; (n = ::read(terminal, buffer, sizeof(buffer))) > 0;) {
      shown.append(buffer, static_cast<size_t>(n));
      if (!isTyped && shown.find(until) != std::string::npos) {
        isTyped = true;
        (void)!::write(terminal, keys.data(), keys.size());
      }
    }
    int state = 0;
    ::waitpid(child, &state, 0);
    ::close(terminal);
    return {WEXITSTATUS(state), shown};
  }
};
} // namespace

TEST_F(TuneTerminal, TheBarFits) {
  for (unsigned short columns : {10, 40, 200}) {
    auto [code, shown] = type(launch("good") + "--again", columns, "xterm");
    EXPECT_EQ(code, 0) << shown;
    std::istringstream lines(shown);
    size_t steps = 0;
    for (std::string line; std::getline(lines, line, '\r');) {
      if (line.starts_with("\033[K") && line.size() > 3 &&
          (line[3] == '[' || std::isdigit(line[3]))) {
        ++steps;
        size_t end = line.find('\n');
        EXPECT_LT(line.substr(0, end).size(), columns + 3u) << line;
      }
    }
    EXPECT_GT(steps, 3u);
  }
}

TEST_F(TuneTerminal, ADumbOneShowsNoBar) {
  auto [code, shown] = type(launch("good"), 80, "dumb");
  EXPECT_EQ(code, 0) << shown;
  EXPECT_THAT(shown, Not(HasSubstr("\033")));
  EXPECT_THAT(shown, HasSubstr("3 configurations"));
}

/// The second of two hangs, if it has begun when the key is pressed.
TEST_F(TuneTerminal, CtrlCLeavesWhatWasMeasured) {
  auto [code, shown] =
      type(launch("hanging") + patiently, 200, "xterm", "1/2, best", "\x03");
  EXPECT_EQ(code, 130) << shown;
  EXPECT_THAT(shown, HasSubstr("stopped by Ctrl-C"));
  EXPECT_THAT(shown,
              AnyOf(HasSubstr("no choice; measured so far: 1 configuration"),
                    AllOf(HasSubstr("; 1 configuration in "),
                          HasSubstr("1 other was not tried before the end"))));
  EXPECT_THAT(shown, HasSubstr("BLOCK=64 KIND=0"));
}

//===----------------------------------------------------------------------===//
// Mistakes
//===----------------------------------------------------------------------===//

TEST_F(TuneCommand, SaysWhatIsWrongWithACommandLine) {
  struct Mistake {
    std::string arguments, message;
  };
  for (const Mistake &mistake : std::vector<Mistake>{
           {"tune", "expected FILE:KERNEL, --import FILE or --export FILE"},
           {"tune t.py:good n=1", "got no --grid"},
           {"tune t.py:goud n=1 --grid 1", "did you mean 'good'?"},
           {"tune none.py:good n=1 --grid 1", "none.py"},
           {"tune t.py:softmax n=1 --grid 1", "@triton.autotune, or --search"},
           {launch("good") + "--device interp", "says nothing"},
           {launch("good") + "BLOCK=64 KIND=0",
            "nothing to choose: the launch gives every tuned parameter"},
           {launch("good") + "--search --values BLOK=1,2",
            "did you mean 'BLOCK'?"},
           {launch("good") + "--search --values BLOCK=",
            "expected values with commas"},
           {launch("good") + "--limit -1", "--limit"},
           {launch("good") + "--device cuda:77", "cuda:77"},
           {launch("hopeless"), "never"}}) {
    CommandResult failed = run(mistake.arguments, "NEREID_CUDA_DRIVER=none");
    EXPECT_NE(failed.code, 0) << mistake.arguments;
    EXPECT_THAT(failed.err, HasSubstr(mistake.message)) << mistake.arguments;
  }
}

TEST_F(TuneCommand, BrokenFilesOfChoicesAreRefused) {
  for (const char *text :
       {"", "{", "[]", R"({"nereid_tuned": 2, "tuned": []})",
        R"({"nereid_tuned": 1, "tuned": [{}]})",
        R"({"nereid_tuned": 1, "tuned": [{"kernel": 7}]})"}) {
    ASSERT_TRUE(writeFileAtomically(root + "/broken.json", text).ok());
    CommandResult failed = run("tune --import broken.json");
    EXPECT_NE(failed.code, 0) << text;
    EXPECT_THAT(failed.err, HasSubstr("broken.json: ")) << text;
    EXPECT_THAT(failed.err, HasSubstr("nereid tune --export wrote")) << text;
  }
  auto importing = [&](const std::string &text) {
    EXPECT_TRUE(writeFileAtomically(root + "/broken.json", text).ok());
    return run("tune --import broken.json").err;
  };
  EXPECT_THAT(importing("[1,"), HasSubstr("it is no JSON, at line 1, column"));
  EXPECT_THAT(importing(R"({"nereid_tuned": 1, "tuned": [{"kernel": "k"}]})"),
              HasSubstr("record 0: the field 'source_hash' is missing"));
  EXPECT_THAT(importing(R"({"nereid_tuned": 1, "tuned": [{"kernel": 7}]})"),
              HasSubstr("record 0: type must be string, but is number"));
  // Nor is one written over.
  CommandResult failed = run("tune --export broken.json");
  EXPECT_NE(failed.code, 0);
  EXPECT_THAT(run("tune --import none.json").err, HasSubstr("none.json"));
}

TEST_F(TuneCommand, ABrokenKeptChoiceIsMadeAgain) {
  ASSERT_EQ(run(launch("good")).code, 0);
  for (auto &entry :
       std::filesystem::directory_iterator(root + "/cache/tuned")) {
    ASSERT_TRUE(writeFileAtomically(entry.path(), "{\"kernel\":").ok());
  }
  EXPECT_THAT(run(launch("good")).out, HasSubstr("configurations in"));
  EXPECT_THAT(run(launch("good")).out, HasSubstr("kept before"));
}

TEST_F(TuneCommand, FilesThatCannotBeWritten) {
  CommandResult folder = run(launch("good") + "--export none/tuned.json");
  EXPECT_NE(folder.code, 0);
  EXPECT_THAT(folder.err, HasSubstr("none/tuned.json"));
  CommandResult full = run(launch("good") + "--export /dev/full");
  EXPECT_NE(full.code, 0);
  EXPECT_THAT(full.err, HasSubstr("/dev/full"));
  CommandResult json = run(launch("good") + "--json /dev/full");
  EXPECT_NE(json.code, 0);
  // A cache that cannot be used costs a warning.
  ASSERT_TRUE(writeFileAtomically(root + "/file", "").ok());
  CommandResult cache =
      run(launch("good"), "NEREID_CACHE_DIR=" + root + "/file/x");
  EXPECT_EQ(cache.code, 0) << cache.err;
  EXPECT_THAT(cache.err, HasSubstr("choices of configurations are not kept"));
}

TEST_F(TuneCommand, ListsWhatDecoratorsSay) {
  CommandResult listed = run("tune t.py --list");
  ASSERT_EQ(listed.code, 0) << listed.err;
  Json list = Json::parse(listed.out);
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list[0]["kernel"], "good");
  EXPECT_EQ(list[0]["key"], Json::parse(R"(["n"])"));
  EXPECT_EQ(list[0]["configs"].size(), 3u);
  EXPECT_EQ(list[0]["configs"][1]["BLOCK"], 128);
}

/// What a tuner has kept for a GPU is what explain explains; what it has kept
/// for the simulated one is not.
TEST_F(TuneCommand, ExplainShowsTheChoiceThatIsKeptForAGpu) {
  CommandResult tuned = run(launch("good") + "--export kept.json");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  Json kept = json("kept.json");
  auto importFor = [&](const char *device, int block) {
    kept["tuned"][0]["device"] = device;
    kept["tuned"][0]["config"]["BLOCK"] = block;
    EXPECT_TRUE(replaceFile(root + "/for.json", kept.dump()).ok());
    CommandResult r = run("tune --import for.json");
    EXPECT_EQ(r.code, 0) << r.err;
  };
  std::string explain = "explain " + arguments("good");
  importFor("simulated sm_90 (sm_90)", 64);
  CommandResult r = run(explain);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("the least predicted time of"));
  importFor("NVIDIA A100 (sm_80)", 256);
  r = run(explain + "--chip h100");
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("BLOCK=256"),
                           HasSubstr("as tuned on NVIDIA A100 (sm_80); "
                                     "--config names another")));
  // That of the chip's own architecture is nearer.
  importFor("NVIDIA H100 (sm_90a)", 128);
  EXPECT_THAT(run(explain + "--chip h100").out,
              AllOf(HasSubstr("BLOCK=128"),
                    HasSubstr("as tuned on NVIDIA H100 (sm_90a)")));
}
